import { expect, onTestFinished, test } from 'vitest';
import { KvasirError } from '../../src-shared/errors.ts';
import type { ChunkEntry, ListFilter } from '../kvstore/store.ts';
import type { Model } from '../engine/engine.ts';
import type { ActiveModel as Active } from '../models/active-model.ts';

type ActiveModel = Active<Model>;
import { EventBus } from '../platform/event-bus.ts';
import { Gate } from '../platform/gate.ts';
import { WarmStart } from './warm-start.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A store of `room` places in memory, with chunks `0` (used last), `1`, … */
function fixture({ chunks = 3, room = 10, warmUp = () => Promise.resolve(true) } = {}) {
  const inRam: string[] = [];
  const gate = new Gate();
  const events = new EventBus();
  const listeners: ((active: ActiveModel) => void)[] = [];
  const model = { info: { fingerprint: 'f' } };
  const models = {
    active: undefined as ActiveModel | undefined,
    onChange: (listener: (active: ActiveModel) => void) => {
      listeners.push(listener);
      return () => undefined;
    },
  };
  const store = {
    list: ({ limit = 0, offset = 0 }: ListFilter = {}) =>
      Array.from({ length: chunks }, (_, i) => {
        const key = String(i);
        return { key, dtype: i % 2 === 0 ? 'f16' : 'q8_0', inRam: inRam.includes(key) } as ChunkEntry;
      }).slice(offset, offset + limit),
    prefetch: (key: string) => {
      if (inRam.length === room) return Promise.resolve('no-room' as const);
      inRam.push(key);
      return Promise.resolve('in-memory' as const);
    },
  };
  const settings = { current: { dtype: 'f16' } } as unknown as ConstructorParameters<
    typeof WarmStart
  >[0]['settings'];
  const warmStart = new WarmStart({ store, models, settings, events, gate, warmUp, log: LOG, pauseMs: 1 });
  onTestFinished(() => warmStart.close());
  return {
    ...{ warmStart, inRam, gate, events },
    use: () => {
      const active = { model } as unknown as ActiveModel;
      models.active = active;
      for (const listener of listeners) listener(active);
    },
  };
}

test('a model that comes into use finds its chunks in memory, the latest first', async () => {
  const { warmStart, use, inRam } = fixture({ chunks: 1000 });
  expect(inRam).toEqual([]);
  use();
  await warmStart.idle();
  expect(inRam).toEqual(['0', '2', '4', '6', '8', '10', '12', '14', '16', '18']); // until memory is full
});

test('goes through every page', async () => {
  const { warmStart, use, inRam } = fixture({ chunks: 1000, room: 1000 });
  use();
  await warmStart.idle();
  expect(inRam).toHaveLength(500);
});

test('waits for a question, and ends when it is closed meanwhile', async () => {
  const { warmStart, use, inRam, gate } = fixture();
  const answer = Promise.withResolvers<undefined>();
  const question = gate.foreground(() => answer.promise);
  use();
  await new Promise((resolve) => setImmediate(resolve));
  expect(inRam).toEqual([]);
  await warmStart.close();
  answer.resolve(undefined);
  await question;
  expect(inRam).toEqual([]);
});

test('rehearses once for a model, again while there are no documents, and again after a question interrupted it', async () => {
  const outcomes = ['interrupted', 'no documents', 'done', 'too often'];
  const rehearsed: string[] = [];
  const { warmStart, use, events, gate } = fixture({
    warmUp: async () => {
      const outcome = outcomes[rehearsed.length] ?? '';
      rehearsed.push(outcome);
      if (outcome !== 'interrupted') return outcome !== 'no documents';
      void gate.foreground(() => Promise.resolve());
      throw new KvasirError('ABORTED', 'A question came.');
    },
  });
  use();
  await warmStart.idle();
  expect(rehearsed).toEqual(['interrupted', 'no documents']);
  for (let status = 0; status < 2; status++) {
    events.emit('queue.status', {} as never);
    await new Promise((resolve) => setTimeout(resolve, 5)); // longer than the pause between two rounds
    await warmStart.idle();
  }
  expect(rehearsed).toEqual(['interrupted', 'no documents', 'done']);
});
