/** Services whose answers are watched: nothing is waited for, every answer is drawn, and time goes by from one to the next. */
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Message, ConversationOptions } from '../../src-shared/contract/chat.ts';
import type { KvasirEvent } from '../../src-shared/contract/events.ts';
import type { QueueStatus } from '../../src-shared/contract/libraries.ts';
import { recomputePrompt } from '../answering/recompute-prompt.ts';
import type { NamedModel } from '../answering/named-model.ts';
import type { ChunkCache, FusionModel } from '../fusion/model.ts';
import { WatchService } from '../fusion/watching/watch-service.ts';
import { WatchTable } from '../fusion/watching/watch-table.ts';
import { systemClock } from '../platform/clock.ts';
import type { Core } from '../platform/core.ts';
import { EventBus } from '../platform/event-bus.ts';
import { silentLogger } from '../platform/logger.ts';
import { fixture, NEW } from './chat.ts';
import { completionFixture } from './completions.ts';
import type { FakeModelOptions } from './fusion.ts';

type ChatOptions = NonNullable<Parameters<typeof fixture>[0]>;

const IDLE: QueueStatus = {
  paused: false,
  waiting: 0,
  active: 0,
  failed: 0,
  done: 3,
  total: 3,
  current: null,
  tokensDone: 0,
  tokensTotal: 0,
  tokensLeftOut: 0,
  tokensPerSecond: 0,
  secondsLeft: null,
  blocked: null,
};

/** As the clock of the answers: so many a day are watched. */
const BETWEEN_MS = 3 * 3_600_000;

/** What a test changes. */
function newWorld() {
  return {
    nowMs: 1_000_000,
    betweenMs: BETWEEN_MS,
    battery: false,
    measuring: false,
    chance: 0,
    modelIds: ['m'],
    libraries: [{ id: '1', name: 'Papers' }],
  };
}

interface WatchedParts extends Omit<Core, 'log'> {
  dir: string;
  models: { active: NamedModel<FusionModel>; onChange: (listener: () => void) => () => void };
  store: ChunkCache;
  answers: ConstructorParameters<typeof WatchService>[0]['answers'];
  world: ReturnType<typeof newWorld>;
}

function watched({ dir, models, store, settings, gate, events, answers, world }: WatchedParts) {
  /** How often it was looked which model is in use. */
  let looks = 0;
  const openTable = (): WatchTable => WatchTable.open(join(dir, 'watching.sqlite'));
  const serve = (): WatchService =>
    new WatchService({
      ...{ settings, gate, events, answers, table },
      log: silentLogger,
      models: {
        get active() {
          looks++;
          return { ...models.active, id: 'm' };
        },
        onChange: (listener) => models.onChange(listener),
      },
      known: { modelIds: () => world.modelIds, libraries: () => world.libraries },
      remakePrompt: (prompt, signal) => {
        const { dtype } = settings.current;
        return recomputePrompt(prompt, {
          model: models.active.model,
          store,
          dtype,
          signal,
          clock: systemClock,
        });
      },
      onBattery: () => world.battery,
      measuring: () => world.measuring,
      nowMs: () => world.nowMs,
      chance: () => world.chance,
      quietMs: 0,
    });
  let table = openTable();
  let watching = serve();
  watching.start();
  const close = async (): Promise<void> => {
    await watching.close();
    table.close();
  };
  const seen = () => watching.status().libraries[0];
  return {
    seen,
    service: () => watching,
    table: () => table,
    status: () => watching.status(),
    close,
    /** Resolves when so many answers were compared. */
    compared: (count: number) => expect.poll(() => seen()?.answers.length ?? 0).toBe(count),
    /** Resolves when it was found that nothing may be done now. */
    leftAlone: async () => {
      const before = looks;
      settings.update({ watchAnswers: true });
      await expect.poll(() => looks).toBeGreaterThan(before);
      await watching.idle();
    },
    queue: (status: Partial<QueueStatus>) => events.emit('queue.status', { ...IDLE, ...status }),
    /** As after a restart of the program. */
    restart: async () => {
      await close();
      table = openTable();
      watching = serve();
      watching.start();
    },
  };
}

export async function watchedChat(options: ChatOptions = {}) {
  const chat = await fixture({
    leastRatio: (model, libraryIds) => watching.table().leastRatio(model, libraryIds),
    ...options,
  });
  const world = newWorld();
  const watching: ReturnType<typeof watched> = watched({
    ...chat,
    events: chat.bus,
    answers: chat.chat.remade,
    world,
  });
  onTestFinished(async () => {
    await chat.close();
    await watching.close();
  });
  const { id } = chat.chat.create(NEW);
  /** Each in a conversation of its own; options: of the conversation. */
  const ask = async (how: Partial<ConversationOptions> = {}): Promise<Message> => {
    world.nowMs += world.betweenMs;
    return chat.ask(chat.chat.create({ ...NEW, ...how }).id, 'Where does Mara live?');
  };
  return { ...watching, ...chat, id, world, ask, reset: () => watching.service().reset('m', '1') };
}

/** What other programs ask. No conversation is watched beside. */
export function watchedPrograms(options: FakeModelOptions = {}) {
  const programs = completionFixture({
    ...options,
    leastRatio: (model, libraryIds) => watching.table().leastRatio(model, libraryIds),
    watch: (answer) => watching.service().answered(answer),
  });
  const world = newWorld();
  const told: KvasirEvent[] = [];
  const events = new EventBus();
  events.on((event) => told.push(event));
  const models = { active: { name: 'Fake', model: programs.model }, onChange: () => () => undefined };
  const answers = { blended: () => undefined, remake: () => Promise.resolve(undefined) };
  const watching: ReturnType<typeof watched> = watched({ ...programs, events, models, answers, world });
  onTestFinished(async () => {
    await programs.service.close();
    await watching.close();
  });
  const ask = (...request: Parameters<typeof programs.service.complete>) => {
    world.nowMs += world.betweenMs;
    return programs.service.complete(...request);
  };
  return { ...watching, ...programs, world, told, ask };
}
