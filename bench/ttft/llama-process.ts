/** Runs llama.cpp for bench:ttft; settings as JSON in the first argument, calls and replies over the process's IPC channel. */
import { openWithPacks } from '../../src-main/engine/packs.ts';
import { peakRssMiB } from '../lib/machine.ts';
import { likeliest } from './prompt.ts';

export interface LlamaSettings {
  path: string;
  contextTokens: number;
  threads: number;
  device: string;
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
  /** After a prefill: the greedy token. */
  firstToken?: number;
  error?: string;
}

type Outcome = Pick<LlamaReply, 'ms' | 'firstToken'>;
const NO_TIME: Outcome = { ms: 0 };

const { path, ...settings } = JSON.parse(process.argv[2] ?? '{}') as LlamaSettings;
const reference = await openWithPacks().loadReference(path, settings);

async function run(call: LlamaCall): Promise<Outcome> {
  switch (call.call) {
    case 'prefill':
      return reference.prefill(call.ids).then(({ ms, logits }) => ({ ms, firstToken: likeliest(logits) }));
    case 'decode':
      return { ms: (await reference.decode(call.count)).ms };
    case 'truncate':
      reference.truncate(call.length);
      return NO_TIME;
    case 'cut':
      await reference.cut(call.begin, call.end);
      return NO_TIME;
    case 'close':
      reference.dispose();
      return NO_TIME;
  }
}

process.on('message', (call: LlamaCall) => {
  run(call).then(
    (outcome) => process.send?.({ ...outcome, peakRssMiB: peakRssMiB() } satisfies LlamaReply),
    (error: unknown) =>
      process.send?.({ ...NO_TIME, peakRssMiB: 0, error: String(error) } satisfies LlamaReply),
  );
});
process.send?.({ ms: 0, peakRssMiB: peakRssMiB() } satisfies LlamaReply);
