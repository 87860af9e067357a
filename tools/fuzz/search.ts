/** Searches for inputs that break a rule: seeded, and the same for every kind of message. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { messageOf } from '../../src-main/platform/failure.ts';
import { randomFrom } from '../../src-main/testing/random.ts';
import type { Random } from './mutate.ts';

/** What is fuzzed. An input is text, so that it can be kept. */
export interface Target {
  make(random: Random): string;
  /** How it ended, in a word. Rejects if a rule is broken. */
  run(input: string): Promise<string>;
  /** How many inputs a short search has. */
  inputs: number;
  /** CPU time in ms that an input may take; default 1000. */
  mostMs?: number;
  /** Ends that a search has to reach: inputs that all fail at the first check would test nothing. */
  reaches: readonly string[];
}

interface Finding {
  input: string;
  why: string;
}

interface SearchOptions {
  /** 0: a short search. */
  seconds: number;
  seed: number;
}

interface SearchReport {
  findings: Finding[];
  /** How many inputs ended in each way. */
  ends: Record<string, number>;
}

const MOST_FINDINGS = 5;
const MOST_MS = 1000;
/** An input without an answer for so long has none: wall time, on a machine that may be busy. */
const NO_ANSWER_MS = 30_000;
/** Caches are full then. */
const WARM_INPUTS = 500;
const MOST_GROWTH_BYTES = 64 * 1024 * 1024;

/** Rejects if memory grows. */
export async function search(target: Target, { seconds, seed }: SearchOptions): Promise<SearchReport> {
  const found: SearchReport = { findings: [], ends: {} };
  const until = performance.now() + seconds * 1000;
  let warm: number | undefined;
  let number = 0;
  for (; number < target.inputs || performance.now() < until; number++) {
    if (number === WARM_INPUTS) warm = await usedHeap();
    const input = target.make(randomFrom(seed + number));
    const { end, why } = await outcome(target, input);
    if (end !== undefined) found.ends[end] = (found.ends[end] ?? 0) + 1;
    if (why !== undefined) found.findings.push({ input, why });
    if (found.findings.length === MOST_FINDINGS) break;
  }
  const growth = (await usedHeap()) - (warm ?? Infinity);
  if (growth > MOST_GROWTH_BYTES) throw new Error(`${number} inputs left ${growth} bytes of memory in use`);
  return found;
}

/** `why`: the rule that is broken. */
export async function outcome(target: Target, input: string): Promise<{ end?: string; why?: string }> {
  const unhandled: unknown[] = [];
  const listener = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', listener);
  const before = process.cpuUsage();
  let timer: NodeJS.Timeout | undefined;
  try {
    const slow = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no end after ${NO_ANSWER_MS / 1000} s`)), NO_ANSWER_MS);
    });
    const end = await Promise.race([target.run(input), slow]);
    await new Promise(setImmediate); // rejections that nobody handles are told before
    if (unhandled.length > 0) return { why: `unhandled: ${messageOf(unhandled[0])}` };
    const { user, system } = process.cpuUsage(before);
    const ms = (user + system) / 1000;
    return ms > (target.mostMs ?? MOST_MS) ? { why: `took ${Math.round(ms)} ms of CPU time` } : { end };
  } catch (error) {
    return { why: messageOf(error) };
  } finally {
    clearTimeout(timer);
    process.off('unhandledRejection', listener);
  }
}

/** Inputs that once broke a rule, by target. Absent while there are none. */
function folderOf(name: string): string {
  return join(import.meta.dirname, 'found', name);
}

/** Keeps an input for the tests; returns its path. */
export function keepInput(name: string, input: string): string {
  mkdirSync(folderOf(name), { recursive: true });
  const hash = createHash('sha256').update(input).digest('hex').slice(0, 12);
  const path = join(folderOf(name), `${hash}.input`);
  writeFileSync(path, input);
  return path;
}

export function keptInputs(name: string): string[] {
  const folder = folderOf(name);
  return existsSync(folder)
    ? readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
    : [];
}

/** Bytes in use. Buffers are collected only in a second round, after the first has released what held them. */
async function usedHeap(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    collect();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
