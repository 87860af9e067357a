/**
 * Fuzzing: parsers of files and messages from outside, on mutated inputs.
 *
 *   npm run fuzz                              every target for a minute, then 5,000 documents
 *   npm run fuzz -- --target gguf --minutes 30
 *   npm run fuzz -- --target http --minutes 10 --seed 7
 *   npm run fuzz -- --documents 100000 --seed 7
 *
 * Native targets (gguf, chunk) are guided by coverage and need Clang; documents and messages are mutated from a seed. An input that breaks a
 * rule is kept where the tests run it, and the exit code is 1.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { relative } from 'node:path';
import { ROOT } from '../setup/platform.mjs';
import { fuzzDocuments, keepFinding } from './documents.ts';
import { fuzzNative, NATIVE_TARGETS } from './native.ts';
import { TARGETS } from './targets/targets.ts';

const { values: args } = parseArgs({
  options: {
    target: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    documents: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const names = [...NATIVE_TARGETS, ...Object.keys(TARGETS)];
if (args.target !== undefined && !names.includes(args.target))
  throw new Error(`--target must be one of ${names.join(', ')}`);
const [minutes, seed] = [positive('minutes'), positive('seed')];

const chosen = args.target !== undefined ? [args.target] : args.documents === undefined ? names : [];
const failed = chosen.filter((name) => {
  const native = NATIVE_TARGETS.find((each) => each === name);
  return native ? !fuzzNative(native, minutes, seed) : !fuzzMessages(name);
});
const documents =
  args.target !== undefined && args.documents === undefined ? 0 : Number(args.documents ?? 5000);
const { findings, ends } = await fuzzDocuments(documents, seed);
for (const finding of findings)
  console.log(`${finding.why}\nKept as ${relative(process.cwd(), keepFinding(finding))}.`);
console.log(
  `${chosen.length} targets, ${failed.length} with findings; ${documents} documents, ${findings.length} findings ${JSON.stringify(ends)}.`,
);
process.exitCode = failed.length + findings.length === 0 ? 0 : 1;

/** The search is a test (messages.test.ts), for its servers are those of the tests. Returns whether nothing was found. */
function fuzzMessages(target: string): boolean {
  const test = [
    '--project',
    'unit',
    'tools/fuzz/messages.test.ts',
    '--testNamePattern',
    `mutated inputs: ${target}$`,
  ];
  const env = { ...process.env, KVASIR_FUZZ_SECONDS: String(minutes * 60), KVASIR_FUZZ_SEED: String(seed) };
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...test];
  return spawnSync(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env }).status === 0;
}

function positive(name: 'minutes' | 'seed'): number {
  const value = Number(args[name]);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0`);
  return value;
}
