/** Prefills token ids with node-llama-cpp; first argument: its installation folder, second: settings. Replies like llama-process.ts. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { peakRssMiB } from '../lib/machine.ts';
import type { LlamaReply } from './llama-process.ts';
import type { WitnessSettings } from './witness.ts';

/** The part of the package's types that is used here. */
interface NodeLlamaCpp {
  LlamaLogLevel: { error: string };
  getLlama(options: { gpu: false; build: 'never'; maxThreads: number; logLevel: string }): Promise<{
    loadModel(options: { modelPath: string }): Promise<{
      createContext(options: { contextSize: number; flashAttention: boolean; threads: number }): Promise<{
        getSequence(): {
          clearHistory(): Promise<void>;
          evaluate(tokens: number[]): AsyncGenerator<number, undefined>;
        };
      }>;
    }>;
  }>;
}

const [folder = '', json = '{}'] = process.argv.slice(2);
const { path, contextTokens, threads } = JSON.parse(json) as WitnessSettings;
const entry = createRequire(join(folder, 'package.json')).resolve('node-llama-cpp');
const library = (await import(pathToFileURL(entry).href)) as NodeLlamaCpp;
const llama = await library.getLlama({
  gpu: false,
  build: 'never',
  maxThreads: threads,
  logLevel: library.LlamaLogLevel.error,
});
const model = await llama.loadModel({ modelPath: path });
const context = await model.createContext({ contextSize: contextTokens, flashAttention: true, threads });
const sequence = context.getSequence();

/** The package's own sampling of the first token is included in the time: it has no call without it. */
async function prefill(ids: Int32Array): Promise<LlamaReply> {
  await sequence.clearHistory();
  const start = performance.now();
  const { value } = await sequence.evaluate([...ids]).next();
  const ms = performance.now() - start;
  return { ms, peakRssMiB: peakRssMiB(), ...(value !== undefined && { firstToken: value }) };
}

process.on('message', (ids: Int32Array) => {
  prefill(ids).then(
    (reply) => process.send?.(reply),
    (error: unknown) => process.send?.({ ms: 0, peakRssMiB: 0, error: String(error) } satisfies LlamaReply),
  );
});
process.send?.(await prefill(Int32Array.of(5, 6, 7, 8)));
