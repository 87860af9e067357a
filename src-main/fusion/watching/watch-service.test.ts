import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CLIENT_TEXT } from '../../../src-shared/contract/watching.ts';
import { NEW, ofTopic } from '../../testing/chat.ts';
import { question } from '../../testing/completions.ts';
import { FakeModel } from '../../testing/fusion.ts';
import { watchedChat, watchedPrograms } from '../../testing/watching.ts';
import { FEWEST } from './judge.ts';
import { DAILY } from './watch-service.ts';

test('a blended answer is made again by full prefill, and how far it is from that is kept over a restart', async () => {
  const { ask, compared, status, restart, model, store, events } = await watchedChat();
  const answer = await ask();
  expect(answer.stats).toMatchObject({ strategy: { name: 'query', ratio: 0.15 } });
  await compared(1);
  const { libraries, floor, fewest, daily } = status();
  expect({ floor, fewest, daily }).toEqual({
    floor: { maxKl: 0.01, minAgreement: 0.97 },
    fewest: 8,
    daily: 12,
  });
  expect(libraries).toMatchObject([{ modelId: 'm', libraryId: '1', counted: 1, leastRatio: 0, kl: null }]);
  const [watched] = libraries[0]?.answers ?? [];
  expect(watched).toMatchObject({ agreement: 1, ratio: 0.15 });
  expect(watched?.kl).toBeGreaterThan(0);
  expect(ofTopic(events, 'watching.changed')).not.toEqual([]);
  // Nothing is left of it: neither a session nor a lease, nor anything in the conversation.
  expect(model.sessions.filter(({ disposed }) => !disposed)).toHaveLength(1);
  expect(store.leases).toBe(0);
  await restart();
  expect(status().libraries).toEqual(libraries);
});

test('where answers are too far from a full prefill, more is recomputed, then everything, until a person undoes it', async () => {
  const { ask, compared, seen, reset, model, events } = await watchedChat();
  const told = () => ofTopic(events, 'app.notice').map(({ payload: { failure } }) => failure);
  model.drift = 20;
  for (let i = 1; i <= FEWEST; i++) {
    expect((await ask()).stats).toMatchObject({ strategy: { name: 'query', ratio: 0.15 } });
    await compared(i);
  }
  expect(seen()).toMatchObject({ leastRatio: 0.3, counted: 0 });
  expect(told()).toMatchObject([
    { code: 'BLENDING_RAISED', values: { model: 'Fake', library: 'Papers', ratio: '30 %' } },
  ]);
  for (let i = 1; i <= FEWEST; i++) {
    expect((await ask()).stats).toMatchObject({ strategy: { name: 'query', ratio: 0.3 } });
    await compared(FEWEST + i);
  }
  expect(seen()).toMatchObject({ leastRatio: 1, counted: 0 });
  expect(told()[1]).toMatchObject({ code: 'BLENDING_STOPPED' });
  const full = await ask();
  expect(full.stats).toMatchObject({ strategy: { name: 'full' }, reusedTokens: 0 });
  expect(full.notices).toMatchObject([{ kind: 'blending-stopped' }]);

  model.drift = 0;
  reset();
  expect(seen()).toMatchObject({ leastRatio: 0, counted: 0 });
  expect((await ask()).stats).toMatchObject({ strategy: { name: 'query', ratio: 0.15 } });
  await compared(2 * FEWEST + 1);
  expect(seen()).toMatchObject({ leastRatio: 0, counted: 1 });
  expect(told()).toHaveLength(2);
});

test('what was decided holds after a restart, and for that library alone', async () => {
  const { ask, compared, seen, restart, model, passages } = await watchedChat();
  model.drift = 20;
  for (let i = 1; i <= FEWEST; i++) {
    await ask();
    await compared(i);
  }
  await restart();
  expect(seen()?.leastRatio).toBe(0.3);
  expect((await ask()).stats).toMatchObject({ strategy: { ratio: 0.3 } });
  for (const passage of passages) passage.libraryId = 2;
  expect((await ask()).stats).toMatchObject({ strategy: { ratio: 0.15 } });
});

test('one bad answer changes nothing', async () => {
  const { ask, compared, seen, model } = await watchedChat();
  for (let i = 1; i <= 2 * FEWEST; i++) {
    model.drift = i === 5 ? 50 : 0;
    await ask();
    await compared(i);
  }
  expect(seen()).toMatchObject({ leastRatio: 0, counted: 2 * FEWEST });
  expect(seen()?.kl?.mean).toBeGreaterThan(0.05);
});

test('a question stops it, and it is done in the next quiet time', async () => {
  const reached = Promise.withResolvers<undefined>();
  const goOn = Promise.withResolvers<undefined>();
  let watching = false;
  const chat = await watchedChat({
    beforeToken: async () => {
      if (!watching) return;
      watching = false;
      reached.resolve(undefined);
      await goOn.promise;
    },
  });
  const { ask, compared, status, model } = chat;
  await ask();
  watching = true;
  await reached.promise;
  const asked = ask();
  goOn.resolve(undefined);
  expect(await asked).toMatchObject({ state: 'done', text: 'She lives in Oslo.' });
  await compared(2);
  expect(status().libraries[0]?.counted).toBe(2);
  expect(model.sessions.filter(({ disposed }) => !disposed)).toHaveLength(2);
});

test('documents that come in stop it, and it waits until they are prepared', async () => {
  const reached = Promise.withResolvers<undefined>();
  const goOn = Promise.withResolvers<undefined>();
  let watching = false;
  const beforeToken = async (): Promise<void> => {
    if (!watching) return;
    watching = false;
    reached.resolve(undefined);
    await goOn.promise;
  };
  const { ask, compared, leftAlone, seen, queue } = await watchedChat({ beforeToken });
  await ask();
  watching = true;
  await reached.promise;
  queue({ waiting: 2, active: 1, total: 5 });
  goOn.resolve(undefined);
  await leftAlone();
  expect(seen()).toBeUndefined();
  queue({});
  await compared(1);
});

test('nothing is compared on battery, nor while the model is being measured', async () => {
  const { ask, compared, leftAlone, restart, seen, world, bus } = await watchedChat();
  world.battery = true;
  await ask();
  await leftAlone();
  expect(seen()).toBeUndefined();
  [world.battery, world.measuring] = [false, true];
  await leftAlone();
  expect(seen()).toBeUndefined();
  await restart(); // answers drawn before are compared afterwards
  await leftAlone();
  expect(seen()).toBeUndefined();
  world.measuring = false;
  bus.emit('calibration.changed', {});
  await compared(1);
});

test('nothing is drawn where watching is off, by chance, or beyond the daily limit', async () => {
  const { ask, compared, leftAlone, seen, settings, world } = await watchedChat();
  settings.update({ watchAnswers: false });
  await ask();
  settings.update({ watchAnswers: true });
  world.chance = 0.9;
  await ask();
  await leftAlone();
  expect(seen()).toBeUndefined();
  world.chance = 0;
  world.betweenMs = 1000;
  for (let i = 0; i < DAILY + 3; i++) await ask();
  await compared(DAILY);
  await leftAlone();
  expect(seen()?.answers).toHaveLength(DAILY);
});

test('answers are not watched that were computed in full, by a strategy people chose, or by a model that cannot blend', async () => {
  const { ask, leftAlone, seen } = await watchedChat();
  await ask({ strategy: { name: 'full', ratio: 0.15 } });
  await ask({ strategy: { name: 'query', ratio: 0.15 } });
  await leftAlone();
  expect(seen()).toBeUndefined();

  const other = await watchedChat({ obstacle: 'running-state', precompute: false });
  await other.ask();
  other.settings.update({ watchAnswers: true });
  expect(other.seen()).toBeUndefined();
});

test('what was seen goes with its library and with its model', async () => {
  const { ask, compared, seen, world, bus } = await watchedChat();
  await ask();
  await compared(1);
  bus.emit('library.changed', {});
  bus.emit('models.changed', {});
  expect(seen()).toBeDefined();
  world.libraries = [];
  bus.emit('library.changed', {});
  expect(seen()).toBeUndefined();

  world.libraries = [{ id: '1', name: 'Papers' }];
  await ask();
  await compared(1);
  world.modelIds = ['other'];
  bus.emit('models.changed', {});
  expect(seen()).toBeUndefined();
});

test('with another file or adapter a model is another one', async () => {
  const { ask, compared, seen, models } = await watchedChat();
  await ask();
  await compared(1);
  models.change({ name: 'Fake', model: new FakeModel({ fingerprint: 'e'.repeat(64) }) });
  await expect.poll(seen).toBeUndefined();
});

test('a continued answer is one answer', async () => {
  const { chat, compared, leftAlone, seen } = await watchedChat();
  const { id } = chat.create({ ...NEW, maxTokens: 3 });
  const { answerId } = chat.send(id, 'Where does Mara live?');
  await chat.idle();
  await compared(1);
  chat.continue(id, answerId);
  await chat.idle();
  await leftAlone();
  expect(seen()?.answers).toHaveLength(1);
});

test('an answer whose conversation or cache is gone is left out, and the next is compared', async () => {
  const { ask, compared, leftAlone, seen, settings, world, store } = await watchedChat();
  world.battery = true;
  await ask();
  const kept = new Map(store.chunks);
  store.chunks.clear();
  world.battery = false;
  settings.update({ watchAnswers: true });
  await leftAlone();
  expect(seen()).toBeUndefined();
  for (const [key, chunk] of kept) store.chunks.set(key, chunk);
  await ask();
  await compared(1);
});

/** A client's own passage, and a question about it. */
const CLIENT = question('', {
  prompt: {
    messages: [
      {
        role: 'user',
        parts: [
          { text: 'Secret: Mara lives in Oslo, by the water.', cache: true },
          { text: 'Where is Mara?' },
        ],
      },
    ],
  },
});
const RUN = { signal: new AbortController().signal };

describe('answers that no conversation keeps', () => {
  test('of a client’s own text are compared, and what follows holds for such text alone', async () => {
    const { ask, compared, seen, told, model } = watchedPrograms();
    model.drift = 20;
    for (let i = 1; i <= FEWEST; i++) {
      const { made } = await ask(CLIENT, RUN);
      expect(made.stats.strategy).toMatchObject({ name: 'query', ratio: 0.15 });
      await compared(i);
    }
    expect(seen()).toMatchObject({ modelId: 'm', libraryId: CLIENT_TEXT, leastRatio: 0.3, counted: 0 });
    expect(ofTopic(told, 'app.notice')).toMatchObject([
      { payload: { failure: { values: { library: 'API' } } } },
    ]);
    expect((await ask(CLIENT, RUN)).made.stats.strategy.ratio).toBe(0.3);
    const library = await ask(question('Where does Mara live?', { model: 'kvasir/Notes' }), RUN);
    expect(library.made.stats.strategy.ratio).not.toBe(0.3);
  });

  test('of a library asked as a model count for that library, as those of conversations do', async () => {
    const { ask, compared, seen } = watchedPrograms();
    await ask(question('Where does Mara live?', { model: 'kvasir/Notes' }), RUN);
    await compared(1);
    expect(seen()).toMatchObject({ libraryId: '1', counted: 1 });
  });

  test('leave nothing of their text on disk, and are forgotten by a restart', async () => {
    const { ask, compared, leftAlone, restart, status, world, dir, model } = watchedPrograms();
    world.battery = true;
    await ask(CLIENT, RUN);
    const tokens = model.tokenize('Secret: Mara lives in Oslo, by the water.');
    for (const file of readdirSync(dir)) {
      const content = readFileSync(join(dir, file));
      expect(content.includes('Mara')).toBe(false);
      expect(content.includes(Buffer.from(tokens.buffer))).toBe(false);
      expect(content.includes(JSON.stringify([...tokens]).slice(1, -1))).toBe(false);
    }
    await restart();
    world.battery = false;
    await leftAlone();
    expect(status().libraries).toEqual([]);
    await ask(CLIENT, RUN);
    await compared(1);
  });

  test('are not watched by a strategy that was asked for, without cached text, or where watching is off', async () => {
    const { ask, leftAlone, status, settings } = watchedPrograms();
    await ask({ ...CLIENT, strategy: { name: 'query', ratio: 0.15 } }, RUN);
    await ask(question('Where does Mara live?'), RUN);
    await ask({ ...CLIENT, maxTokens: 0 }, RUN);
    settings.update({ watchAnswers: false });
    await ask(CLIENT, RUN);
    await leftAlone();
    expect(status().libraries).toEqual([]);
  });

  test('and that were drawn are forgotten when watching is turned off', async () => {
    const { ask, leftAlone, status, settings, world } = watchedPrograms();
    world.battery = true;
    await ask(CLIENT, RUN);
    settings.update({ watchAnswers: false });
    world.battery = false;
    await leftAlone();
    expect(status().libraries).toEqual([]);
  });

  test('are watched up to the daily limit', async () => {
    const { ask, compared, leftAlone, seen, world } = watchedPrograms();
    world.betweenMs = 1000;
    for (let i = 0; i < DAILY + 3; i++) await ask(CLIENT, RUN);
    await compared(DAILY);
    await leftAlone();
    expect(seen()?.answers).toHaveLength(DAILY);
  });

  test('take none of the share of conversations', async () => {
    const { ask, compared, service, model } = await watchedChat();
    const strategy = { name: 'query', ratio: 0.15 } as const;
    const prompt = { parts: [], behind: '', strategy };
    const { fingerprint } = model.info;
    for (let i = 0; i < DAILY; i++) service().answered({ fingerprint, libraryIds: [CLIENT_TEXT], prompt });
    await ask();
    await compared(1);
  });
});
