import { expect, test } from 'vitest';
import { inLanes } from './lanes.ts';

const model = (engine: string) => ({ answersAtOnce: engine === 'llama' ? 1 : 8 });
const steps = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs steps and records which lane ran which, how many ran concurrently, and how many were left each time. */
async function taken(count: number, engine: string) {
  const lanes: number[][] = [];
  const left: number[] = [];
  let [now, most] = [0, 0];
  await inLanes(steps(count), model(engine), async (step, lane, remain) => {
    (lanes[lane] ??= []).push(step);
    left.push(remain);
    most = Math.max(most, ++now);
    await turn();
    now--;
  });
  return { lanes, left, most };
}

test('a few steps are taken one after another, many in lanes of neighbours', async () => {
  expect(await taken(7, 'kvasir')).toEqual({ lanes: [steps(7)], left: [7, 6, 5, 4, 3, 2, 1], most: 1 });
  const { lanes, most } = await taken(18, 'kvasir');
  expect(most).toBe(4);
  expect(lanes.flat()).toEqual(steps(18));
  expect(lanes.map(({ length }) => length)).toEqual([5, 4, 5, 4]);
});

test('a model of libllama takes one step after another', async () => {
  expect((await taken(18, 'llama')).most).toBe(1);
});

test('after a failure no step starts; it is thrown once the running ones are done', async () => {
  const ended: number[] = [];
  const all = inLanes(steps(16), model('kvasir'), async (step) => {
    await turn();
    if (step === 0) throw new Error('no');
    await turn();
    ended.push(step);
  });
  await expect(all).rejects.toThrow('no');
  expect(ended).toEqual([4, 8, 12]);
});
