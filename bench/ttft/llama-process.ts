/** Runs llama.cpp for bench:ttft; settings as JSON in the first argument, calls and replies over the process's channel. */
import { Engine } from '../../src-main/engine/engine.ts';
import { peakRssMiB } from '../lib/machine.ts';

export interface LlamaSettings {
  path: string;
  contextTokens: number;
  threads: number;
  flashAttention: boolean;
  ubatch: number;
  vocab: number;
}

export type LlamaCall =
  | { call: 'prefill'; ids: Int32Array }
  | { call: 'decode'; count: number }
  | { call: 'truncate'; length: number }
  | { call: 'cut'; begin: number; end: number }
  | { call: 'close' };

export interface LlamaReply {
  ms: number;
  peakRssMiB: number;
  error?: string;
}

const { path, ...settings } = JSON.parse(process.argv[2] ?? '{}') as LlamaSettings;
const reference = await Engine.open().loadReference(path, settings);

async function run(call: LlamaCall): Promise<number> {
  switch (call.call) {
    case 'prefill':
      return (await reference.prefill(call.ids)).ms;
    case 'decode':
      return (await reference.decode(call.count)).ms;
    case 'truncate':
      reference.truncate(call.length);
      return 0;
    case 'cut':
      await reference.cut(call.begin, call.end);
      return 0;
    case 'close':
      reference.dispose();
      return 0;
  }
}

process.on('message', (call: LlamaCall) => {
  run(call).then(
    (ms) => process.send?.({ ms, peakRssMiB: peakRssMiB() } satisfies LlamaReply),
    (error: unknown) => process.send?.({ ms: 0, peakRssMiB: 0, error: String(error) } satisfies LlamaReply),
  );
});
process.send?.({ ms: 0, peakRssMiB: peakRssMiB() } satisfies LlamaReply);
