/** Prefills token ids with node-llama-cpp and replies with milliseconds; first argument: where it is installed, second: settings. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { WitnessSettings } from './witness.ts';

/** As much of the package as is used here. */
interface NodeLlamaCpp {
  getLlama(options: { gpu: false; build: 'never'; maxThreads: number }): Promise<{
    loadModel(options: { modelPath: string }): Promise<{
      createContext(options: { contextSize: number; flashAttention: boolean; threads: number }): Promise<{
        getSequence(): {
          clearHistory(): Promise<void>;
          evaluate(tokens: number[]): AsyncGenerator<number>;
        };
      }>;
    }>;
  }>;
}

const [folder = '', json = '{}'] = process.argv.slice(2);
const { path, contextTokens, threads } = JSON.parse(json) as WitnessSettings;
const entry = createRequire(join(folder, 'package.json')).resolve('node-llama-cpp');
const library = (await import(pathToFileURL(entry).href)) as NodeLlamaCpp;
const llama = await library.getLlama({ gpu: false, build: 'never', maxThreads: threads });
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({ contextSize: contextTokens, flashAttention: true, threads });
const sequence = context.getSequence();

async function prefill(ids: Int32Array): Promise<number> {
  await sequence.clearHistory();
  const start = performance.now();
  await sequence.evaluate([...ids]).next();
  return performance.now() - start;
}

process.on('message', (ids: Int32Array) => {
  void prefill(ids).then((ms) => process.send?.(ms));
});
await prefill(Int32Array.of(5, 6, 7, 8));
process.send?.(0);
