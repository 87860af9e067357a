/**
 * Fuzzing: parsers of files from outside, on mutated files.
 *
 *   npm run fuzz                              every target for a minute, then 5,000 documents
 *   npm run fuzz -- --target gguf --minutes 30
 *   npm run fuzz -- --documents 100000 --seed 7
 *
 * Native targets (gguf, chunk) are guided by coverage and need Clang; documents are mutated from a seed. An input that breaks a rule is kept
 * where the tests run it, and the exit code is 1.
 */
import { parseArgs } from 'node:util';
import { relative } from 'node:path';
import { fuzzDocuments, keepFinding } from './documents.ts';
import { fuzzNative, NATIVE_TARGETS } from './native.ts';

const { values: args } = parseArgs({
  options: {
    target: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    documents: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const target = NATIVE_TARGETS.find((name) => name === args.target);
if (args.target !== undefined && !target) throw new Error(`--target must be ${NATIVE_TARGETS.join(' or ')}`);
const [minutes, seed] = [positive('minutes'), positive('seed')];

const chosen = target ? [target] : args.documents === undefined ? NATIVE_TARGETS : [];
const failed = chosen.filter((name) => !fuzzNative(name, minutes, seed));
const documents = target && args.documents === undefined ? 0 : Number(args.documents ?? 5000);
const { findings, ends } = await fuzzDocuments(documents, seed);
for (const finding of findings)
  console.log(`${finding.why}\nKept as ${relative(process.cwd(), keepFinding(finding))}.`);
console.log(
  `${chosen.length} native targets, ${failed.length} with findings; ${documents} documents, ${findings.length} findings ${JSON.stringify(ends)}.`,
);
process.exitCode = failed.length + findings.length === 0 ? 0 : 1;

function positive(name: 'minutes' | 'seed'): number {
  const value = Number(args[name]);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0`);
  return value;
}
