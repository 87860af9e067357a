/**
 * What the demo model answers to excerpts of the sample library, with the attention kernel that KVASIR_ATTENTION names and
 * the KV of sessions in the precision given: `node logits.ts f16|q8_0` → JSON on stdout. A process of its own, since the
 * kernel is chosen once.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Engine, type KvDtype, type Strategy } from '../../src-main/engine/engine.ts';

const resources = join(import.meta.dirname, '..', '..', 'resources');
const PROMPTS = 16;
const LENGTHS = [150, 400, 700, 1000];
const SINGLE_ROWS = 8;
const FULL: Strategy = { kind: 'full' };

/** Logits behind each prompt: computed as many rows at once, and with its last tokens one by one. */
export interface PromptLogits {
  many: number[];
  single: number[];
}

const kvDtype = process.argv[2] as KvDtype;
const model = await Engine.open().loadModel(join(resources, 'models', 'kvasir-demo.gguf'), {
  threads: 1,
  device: 'cpu',
  kvDtype,
});
const files = globSync('**/*.md', { cwd: join(resources, 'sample-library') }).sort();
const text = files.map((file) => readFileSync(join(resources, 'sample-library', file), 'utf8')).join('\n');
const ids = model.tokenize(text);
const results: PromptLogits[] = [];
for (let i = 0; i < PROMPTS; i++) {
  const length = LENGTHS[i % LENGTHS.length] ?? 0;
  const begin = Math.floor((i * (ids.length - length)) / PROMPTS);
  const prompt = Int32Array.from([...model.encodingPrefix, ...ids.subarray(begin, begin + length)]);
  const session = model.createSession(prompt.length + 8);
  await session.append([{ kind: 'compute', tokens: prompt }], FULL);
  const many = Array.from(session.logits());
  session.truncate(prompt.length - SINGLE_ROWS);
  for (const token of prompt.subarray(prompt.length - SINGLE_ROWS))
    await session.append([{ kind: 'compute', tokens: Int32Array.of(token) }], FULL);
  results.push({ many, single: Array.from(session.logits()) });
  session.dispose();
}
console.log(JSON.stringify({ kvDtype: model.info.kvDtype, results }));
model.dispose();
