import { parseArgs } from 'node:util';
import { KV_DTYPES, type KvDtype } from '../../src-shared/kv-dtype.ts';
import { SHAPES } from '../../tools/random-model/shapes.ts';

/** Options of `npm run bench:ttft`. */
export interface Options {
  /** A model file; otherwise a random-weight model of `shape` and `type` is made. */
  model: string | undefined;
  shape: string;
  type: string;
  contexts: number[];
  /** Tokens per chunk. */
  chunks: number[];
  questionTokens: number;
  ratios: number[];
  /** Number formats of stored chunks besides f16. */
  formats: KvDtype[];
  /** Runs per context. */
  runs: number[];
  /** Number of tokens in the decoding measurement; 0: none. */
  decode: number;
  /** Number of tokens for the trial of llama.cpp's settings. */
  trial: number;
  threads: number;
  device: string;
  tiers: boolean;
  turns: boolean;
  llama: boolean;
  witness: boolean;
  /** Another build's llama-bench with its settings, as one more full prefill. */
  llamaBench: string | undefined;
  only: RegExp | undefined;
  cpu: string | undefined;
  out: string | undefined;
}

const FLAGS = {
  model: { type: 'string' },
  shape: { type: 'string', default: '0.6b' },
  type: { type: 'string', default: 'q8_0' },
  contexts: { type: 'string', default: '1024,2048,4096' },
  chunks: { type: 'string', default: '512' },
  question: { type: 'string', default: '32' },
  ratios: { type: 'string', default: '0.05,0.15,0.3' },
  formats: { type: 'string', default: '' },
  runs: { type: 'string', default: '3' },
  decode: { type: 'string', default: '32' },
  trial: { type: 'string', default: '1024' },
  threads: { type: 'string', default: '0' },
  device: { type: 'string', default: 'auto' },
  tiers: { type: 'boolean', default: true },
  turns: { type: 'boolean', default: true },
  llama: { type: 'boolean', default: true },
  witness: { type: 'boolean', default: false },
  'llama-bench': { type: 'string' },
  only: { type: 'string' },
  cpu: { type: 'string' },
  out: { type: 'string' },
} as const;

/** A TypeError names the invalid flag. */
export function optionsFrom(argv: string[]): Options {
  const { values } = parseArgs({ args: argv, allowNegative: true, options: FLAGS });
  if (values.model === undefined && !(values.shape in SHAPES))
    throw new TypeError(`--shape must be one of ${Object.keys(SHAPES).join(', ')}`);
  const contexts = counts('contexts', values.contexts, 1);
  const runs = counts('runs', values.runs, 1);
  if (runs.length !== 1 && runs.length !== contexts.length)
    throw new TypeError('--runs must be one number, or one for each of --contexts');
  const ratios = values.ratios.split(',').map(Number);
  if (!ratios.every((ratio) => ratio >= 0 && ratio <= 1)) throw new TypeError('--ratios must be from 0 to 1');
  return {
    model: values.model,
    shape: values.shape,
    type: values.type,
    contexts,
    chunks: counts('chunks', values.chunks, 1),
    questionTokens: count('question', values.question, 1),
    ratios,
    formats: KV_DTYPES.filter((dtype) => dtype !== 'f16' && values.formats.split(',').includes(dtype)),
    runs: contexts.map((_, i) => runs[i] ?? runs[0] ?? 1),
    decode: count('decode', values.decode, 0),
    trial: count('trial', values.trial, 1),
    threads: count('threads', values.threads, 0),
    device: values.device,
    tiers: values.tiers,
    turns: values.turns,
    llama: values.llama,
    witness: values.witness,
    llamaBench: values['llama-bench'],
    only: values.only === undefined ? undefined : new RegExp(values.only),
    cpu: values.cpu,
    out: values.out,
  };
}

function counts(flag: string, list: string, least: number): number[] {
  return list.split(',').map((value) => count(flag, value, least));
}

function count(flag: string, value: string, least: number): number {
  const number = Number(value);
  if (value === '' || !Number.isInteger(number) || number < least)
    throw new TypeError(`--${flag} must be whole numbers, ${least} or more: ${value}`);
  return number;
}
