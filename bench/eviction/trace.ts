import { readFileSync } from 'node:fs';
import { randomFrom } from '../../src-main/testing/random.ts';
import { exponential, zipf } from './random.ts';

/** One request of a trace, in order of time. */
export interface TraceRequest {
  /** Seconds. */
  time: number;
  /** Kind of request and turn, e.g. "text-2": what reuse is learned by. */
  class: string;
  /** Ids of its blocks, from the prompt's beginning; equal ids are equal prefixes. */
  blocks: number[];
  /** It stores its blocks rather than asking for them: no hits are counted. */
  stored?: boolean;
}

/**
 * The public Qwen trace (JSONL; "KVCache in the wild", ATC '25): `timestamp`, `type`, `turn` and `hash_ids` of 16-token
 * blocks are read.
 */
export function readTrace(path: string): TraceRequest[] {
  const requests = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): TraceRequest => {
      const { timestamp, type, turn, hash_ids } = JSON.parse(line) as Record<string, unknown>;
      if (typeof timestamp !== 'number' || !Array.isArray(hash_ids))
        throw new Error(`not a request: ${line}`);
      return { time: timestamp, class: `${String(type)}-${String(turn)}`, blocks: hash_ids as number[] };
    });
  return requests.sort((a, b) => a.time - b.time);
}

/** Numbers the blocks of a trace from 0 in order of their first use; gives how many there are. */
export function numberBlocks(trace: readonly TraceRequest[]): number {
  const numbers = new Map<number, number>();
  for (const { blocks } of trace) {
    blocks.forEach((block, i) => {
      let number = numbers.get(block);
      if (number === undefined) numbers.set(block, (number = numbers.size));
      blocks[i] = number;
    });
  }
  return numbers.size;
}

interface GeneratorOptions {
  seed: number;
  requests: number;
  users: number;
  /** New conversations a second. */
  rate: number;
}

interface Kind {
  name: string;
  share: number;
  /** Probability that another turn follows. */
  goesOn: number;
  /** Mean seconds until it does. */
  thinkSeconds: number;
  /** Mean blocks that a turn adds. */
  blocks: number;
}

/**
 * The published properties of a consumer trace (§3 of the paper): 78 % chat, about half of the requests are in
 * conversations of several turns, times between turns are exponential with a mean of each kind's own (pictures
 * shortest, files longest, search between), a fifth of the users sends half of the requests, a user's requests share that
 * user's system prompt, and nothing is shared between users.
 */
const KINDS: readonly Kind[] = [
  { name: 'text', share: 0.78, goesOn: 0.5, thinkSeconds: 110, blocks: 60 },
  { name: 'search', share: 0.09, goesOn: 0.48, thinkSeconds: 170, blocks: 90 },
  { name: 'file', share: 0.07, goesOn: 0.51, thinkSeconds: 260, blocks: 160 },
  { name: 'image', share: 0.06, goesOn: 0.2, thinkSeconds: 40, blocks: 80 },
];

/** Share of people who go on after the second turn grows: whoever is in a conversation stays in it. */
const STAYS = 0.78;
const SYSTEM_BLOCKS = 6;
/** Gives a fifth of the users half of the requests. */
const SKEW = 0.85;

export function generateTrace(options: GeneratorOptions): TraceRequest[] {
  const random = randomFrom(options.seed);
  const pickUser = zipf(options.users, SKEW, random);
  const requests: TraceRequest[] = [];
  let nextBlock = 0;
  const fresh = (count: number): number[] => Array.from({ length: count }, () => nextBlock++);
  const systems = Array.from({ length: options.users }, () => fresh(SYSTEM_BLOCKS));
  let time = 0;
  while (requests.length < options.requests) {
    time += exponential(1 / options.rate, random);
    const kind = pickKind(random());
    let blocks = [...(systems[pickUser()] ?? [])];
    let at = time;
    for (let turn = 1; ; turn++) {
      blocks = [...blocks, ...fresh(1 + Math.round(exponential(kind.blocks, random)))];
      requests.push({ time: at, class: `${kind.name}-${Math.min(turn, 5)}`, blocks });
      if (random() > (turn === 1 ? kind.goesOn : STAYS)) break;
      at += exponential(kind.thinkSeconds, random);
    }
  }
  return requests.sort((a, b) => a.time - b.time).slice(0, options.requests);
}

function pickKind(at: number): Kind {
  let sum = 0;
  for (const kind of KINDS) {
    sum += kind.share;
    if (at < sum) return kind;
  }
  return KINDS[0] as Kind;
}
