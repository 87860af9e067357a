import { setTimeout as sleep } from 'node:timers/promises';
import type { Model } from '../../src-main/engine/engine.ts';
import { median } from '../lib/machine.ts';
import type { Llama } from './llama.ts';
import { randomIds } from './prompt.ts';
import { SETTLE_MS } from './rounds.ts';

const ROUNDS = 3;

/** Tokens per second after a context. */
export interface DecodeSpeed {
  context: number;
  ours: number;
  llama: number;
}

/** Greedy decoding of `count` tokens after a context, one by one, alternating between our engine and llama.cpp. */
export async function measureDecode(
  model: Model,
  llama: Llama,
  { context, count }: { context: number; count: number },
): Promise<DecodeSpeed> {
  const ids = randomIds(context, model.info.vocabSize);
  const session = model.createSession(context + count + 8);
  await session.append([{ kind: 'compute', tokens: ids }], { kind: 'full' });
  await llama.truncate(0);
  await llama.prefill(ids);
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let i = 0; i < ROUNDS; i++) {
    await sleep(SETTLE_MS);
    session.truncate(context - 1);
    await session.append([{ kind: 'compute', tokens: ids.slice(-1) }], { kind: 'full' });
    const { tokens, ms } = await session.generate({ maxTokens: count, sampling: { drafting: 'off' } });
    ours.push((tokens.length * 1000) / ms);
    await sleep(SETTLE_MS);
    await llama.truncate(context);
    theirs.push((count * 1000) / (await llama.decode(count)).ms);
  }
  session.dispose();
  return { context, ours: median(ours), llama: median(theirs) };
}
