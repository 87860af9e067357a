/**
 * Precomputes chunks into a store until it is done or killed:
 *   node store-crash-child.ts <model> <store folder> <seed> <disk budget in bytes>
 * Writes a line "open" when the store is open, and each key once its put() has resolved.
 */
import { writeSync } from 'node:fs';
import { Engine } from '../../src-main/engine/engine.ts';
import { ChunkStore } from '../../src-main/kvstore/store.ts';
import { MODEL_OPTIONS, plan, shuffled } from './store-crash-plan.ts';

const [modelPath = '', dir = '', seed = '', budget = ''] = process.argv.slice(2);
const engine = Engine.open();
const model = await engine.loadModel(modelPath, MODEL_OPTIONS);
const store = await ChunkStore.open({
  dir,
  diskBudgetBytes: Number(budget),
  ramBudgetBytes: 0,
  files: engine,
});
// Not console.log: the line must be in the pipe before anything else can happen.
writeSync(1, 'open\n');
for (const { key, tokens, dtype } of shuffled(plan(model), Number(seed))) {
  const chunk = await model.encodeChunk(tokens, dtype);
  await store.put(key, chunk);
  writeSync(1, `${key}\n`);
  chunk.dispose();
}
await store.close();
model.dispose();
