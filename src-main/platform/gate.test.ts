import { describe, expect, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import { Gate } from './gate.ts';

/** Work that ends on request, or with ABORTED when its signal is aborted. */
function work() {
  const done = Promise.withResolvers<undefined>();
  const run = (signal?: AbortSignal): Promise<undefined> => {
    signal?.addEventListener('abort', () => done.reject(new KvasirError('ABORTED', 'stopped')));
    return done.promise;
  };
  return { run, finish: () => done.resolve(undefined) };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a question interrupts background work, which restarts afterwards', async () => {
  const gate = new Gate();
  const attempts: ReturnType<typeof work>[] = [];
  const background = gate.background((signal) => {
    const attempt = work();
    attempts.push(attempt);
    return attempt.run(signal);
  });
  await turn();
  const question = work();
  const answered = gate.foreground(() => question.run());
  await turn();
  expect(attempts).toHaveLength(1);
  question.finish();
  await answered;
  await turn();
  expect(attempts).toHaveLength(2);
  attempts[1]!.finish();
  await background;
});

test('background work that fails by itself is not repeated', async () => {
  const gate = new Gate();
  await expect(
    gate.background(() => Promise.reject(new KvasirError('DISK_FULL', 'full'))),
  ).rejects.toMatchObject({
    code: 'DISK_FULL',
  });
});

test('stopping background work ends it, also while it waits', async () => {
  const gate = new Gate();
  const question = work();
  const answered = gate.foreground(() => question.run());
  const controller = new AbortController();
  const waiting = gate.background(() => Promise.resolve(1), controller.signal);
  controller.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
  question.finish();
  await answered;
});

test('questions are answered one after another, also after one failed', async () => {
  const gate = new Gate();
  const order: number[] = [];
  const failing = gate.foreground(async () => {
    order.push(1);
    await turn();
    throw new Error('no');
  });
  const next = gate.foreground(async () => {
    await turn();
    order.push(2);
  });
  await expect(failing).rejects.toThrow('no');
  await next;
  expect(order).toEqual([1, 2]);
});

test('background work is told of every question, however closely it begins or follows', async () => {
  const gate = new Gate();
  const running = new Set<AbortSignal>();
  const untold: AbortSignal[] = [];
  const step = async (signal: AbortSignal): Promise<void> => {
    running.add(signal);
    await turn();
    running.delete(signal);
  };
  const question = async (): Promise<void> => {
    await Promise.resolve();
    await Promise.resolve();
    untold.push(...[...running].filter(({ aborted }) => !aborted));
    await turn();
  };
  const beginning = gate.background(step);
  const first = gate.foreground(question);
  const waiting = gate.background(step);
  const second = first.then(() => gate.foreground(question));
  await Promise.all([beginning, first, waiting, second]);
  expect(untold).toEqual([]);
});

test('a job interrupts background work and yields to questions; both resume afterwards, the job first', async () => {
  const gate = new Gate();
  const order: string[] = [];
  const attempt = (name: string, attempts: ReturnType<typeof work>[]) => (signal: AbortSignal) => {
    order.push(name);
    const one = work();
    attempts.push(one);
    return one.run(signal);
  };
  const [backgrounds, jobs]: ReturnType<typeof work>[][] = [[], []];
  const background = gate.background(attempt('background', backgrounds!));
  await turn();
  const job = gate.job(attempt('job', jobs!));
  await turn();
  const question = work();
  const answered = gate.foreground(() => {
    order.push('question');
    return question.run();
  });
  await turn();
  expect(order).toEqual(['background', 'job', 'question']);
  question.finish();
  await answered;
  await turn();
  expect(order).toEqual(['background', 'job', 'question', 'job']);
  jobs![1]!.finish();
  await job;
  await turn();
  expect(order.at(-1)).toBe('background');
  backgrounds!.at(-1)!.finish();
  await background;
});

test('questions share a model as far as it goes; what changes the model runs alone, in its turn', async () => {
  const gate = new Gate();
  gate.atOnce = 2;
  const order: string[] = [];
  const ask = (name: string, shared: boolean) => {
    const one = work();
    const done = gate.foreground(
      () => {
        order.push(name);
        return one.run();
      },
      { shared },
    );
    return { finish: one.finish, done };
  };
  const [a, b, c] = [ask('a', true), ask('b', true), ask('c', true)];
  const change = ask('change', false);
  const d = ask('d', true);
  await turn();
  expect(order).toEqual(['a', 'b']);
  a.finish();
  await a.done;
  await turn();
  expect(order).toEqual(['a', 'b', 'c']);
  b.finish();
  await b.done;
  await turn();
  expect(order).toEqual(['a', 'b', 'c']); // the change waits for c, and d for the change
  c.finish();
  await c.done;
  await turn();
  expect(order).toEqual(['a', 'b', 'c', 'change']);
  change.finish();
  await change.done;
  await turn();
  expect(order).toEqual(['a', 'b', 'c', 'change', 'd']);
  d.finish();
  await d.done;
});

test('work stopped while waiting leaves the queue, and lets in the work after it', async () => {
  const gate = new Gate();
  gate.atOnce = 2;
  const order: string[] = [];
  const stop = new AbortController();
  const [first, change] = [work(), work()];
  const done = gate.foreground(first.run, { shared: true });
  const waits = gate.foreground(change.run, { signal: stop.signal });
  const behind = gate.foreground(() => Promise.resolve(order.push('behind')), { shared: true });
  await turn();
  expect(order).toEqual([]);
  stop.abort();
  await expect(waits).rejects.toMatchObject({ code: 'ABORTED' });
  await behind;
  expect(order).toEqual(['behind']);
  first.finish();
  await done;
  await expect(gate.foreground(change.run, { signal: stop.signal })).rejects.toMatchObject({
    code: 'ABORTED',
  });
  await gate.background(() => Promise.resolve());
});

describe('people and programs', () => {
  /** A gate that records the order in which work begins. */
  function noted(atOnce: number) {
    const gate = new Gate();
    gate.atOnce = atOnce;
    const order: string[] = [];
    const ask = (name: string, options: { shared?: boolean; forProgram?: boolean } = {}) => {
      const one = work();
      const begun = (): Promise<void> => {
        order.push(name);
        return one.run();
      };
      const done = gate.foreground(begun, { shared: true, ...options });
      return async (): Promise<void> => {
        one.finish();
        await done;
        await turn();
      };
    };
    return { order, ask, program: (name: string) => ask(name, { forProgram: true }) };
  }

  test('what a person asks goes before programs that wait, and after people that do', async () => {
    const { order, ask, program } = noted(1);
    const ends = [program('p1'), program('p2'), ask('a'), program('p3'), ask('b')];
    await turn();
    for (const i of [0, 2, 4, 1, 3]) await ends[i]?.();
    expect(order).toEqual(['p1', 'a', 'b', 'p2', 'p3']);
  });

  test('where several share the model, a person does not wait for programs that have it', async () => {
    const { order, ask, program } = noted(2);
    const ends = [program('p1'), program('p2'), program('p3'), ask('a'), ask('b'), ask('c')];
    await turn();
    expect(order).toEqual(['p1', 'p2', 'a', 'b']);
    await ends[3]?.();
    expect(order.at(-1)).toBe('c');
    for (const i of [4, 5]) await ends[i]?.();
    expect(order).not.toContain('p3'); // the programs before it reach the limit
    for (const i of [0, 1, 2]) await ends[i]?.();
    expect(order.at(-1)).toBe('p3');
  });

  test('a change of the model goes before programs that wait, and runs alone', async () => {
    const { order, ask, program } = noted(2);
    const ends = [program('p1'), program('p2'), program('p3'), ask('change', { shared: false }), ask('a')];
    await turn();
    expect(order).toEqual(['p1', 'p2']);
    await ends[0]?.();
    expect(order).toEqual(['p1', 'p2']);
    await ends[1]?.();
    expect(order).toEqual(['p1', 'p2', 'change']);
    await ends[3]?.();
    expect(order).toEqual(['p1', 'p2', 'change', 'a', 'p3']);
    for (const i of [2, 4]) await ends[i]?.();
  });
});

describe('work that waits', () => {
  /** A gate with work in progress; others wait, with what they have at hand, and begin one after another once it ends. */
  async function queued(waiting: readonly (number | 'exclusive')[]): Promise<number[]> {
    const gate = new Gate();
    const first = work();
    const done = [gate.foreground(first.run, { shared: true, onWait: () => expect.unreachable() })];
    const order: number[] = [];
    for (const [i, each] of waiting.entries()) {
      const begin = async (): Promise<undefined> => void order.push(i);
      const onWait = () => () => Number(each);
      done.push(gate.foreground(begin, each === 'exclusive' ? {} : { shared: true, onWait }));
    }
    first.finish();
    await Promise.all(done);
    return order;
  }

  test('begins with the most at hand; equals begin in call order', async () => {
    expect(await queued([0, 1, 3, 0, 3, 2])).toEqual([2, 4, 5, 1, 0, 3]);
    expect(await queued([0, 0, 0])).toEqual([0, 1, 2]);
  });

  test('is overtaken by four others at most', async () => {
    expect(await queued([0, 9, 9, 9, 9, 9, 9])).toEqual([1, 2, 3, 4, 0, 5, 6]);
    expect(await queued([0, 1, 9, 9, 9, 9, 9, 9, 9])).toEqual([2, 3, 4, 5, 0, 1, 6, 7, 8]);
  });

  test('overtakes no exclusive work, which overtakes none either', async () => {
    expect(await queued([0, 1, 'exclusive', 9, 2, 8])).toEqual([1, 0, 2, 3, 5, 4]);
  });

  test('counts what is at hand when others end, not when it came', async () => {
    const gate = new Gate();
    const first = work();
    const order: string[] = [];
    const running = gate.foreground(first.run, { shared: true });
    let later = 0;
    const ask = (name: string, atHand: () => number) =>
      gate.foreground(async () => void order.push(name), { shared: true, onWait: () => atHand });
    const others = [ask('a', () => 1), ask('b', () => later)];
    later = 2;
    first.finish();
    await Promise.all([running, ...others]);
    expect(order).toEqual(['b', 'a']);
  });
});

test('work that pauses lets others begin, and takes its turn again afterwards', async () => {
  const gate = new Gate();
  const order: string[] = [];
  const decided = work();
  const paused = gate.foreground(
    async () => {
      await gate.pause(() => decided.run());
      order.push('again');
    },
    { shared: true },
  );
  const other = work();
  const exclusive = gate.foreground(async () => {
    order.push('other');
    await other.run();
  });
  await turn();
  expect(order).toEqual(['other']);
  decided.finish();
  await turn();
  expect(order).toEqual(['other']);
  other.finish();
  await Promise.all([paused, exclusive]);
  expect(order).toEqual(['other', 'again']);
});

test('while work pauses, background work runs; it is interrupted when the pause ends', async () => {
  const gate = new Gate();
  const decided = work();
  const paused = gate.foreground(() => gate.pause(() => decided.run()), { shared: true });
  const attempts: ReturnType<typeof work>[] = [];
  const background = gate.background((signal) => {
    const attempt = work();
    attempts.push(attempt);
    return attempt.run(signal);
  });
  await turn();
  expect(attempts).toHaveLength(1);
  decided.finish();
  await paused;
  await turn();
  expect(attempts).toHaveLength(2);
  attempts[1]!.finish();
  await background;
});
