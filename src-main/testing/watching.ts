/** The chat service of chat.ts, whose answers are watched: nothing is waited for, every answer is drawn, and time goes by from one to the next. */
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { Message, ConversationOptions } from '../../src-shared/contract/chat.ts';
import type { QueueStatus } from '../../src-shared/contract/libraries.ts';
import { WatchService } from '../fusion/watching/watch-service.ts';
import { silentLogger } from '../platform/logger.ts';
import { fixture, NEW } from './chat.ts';

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

export async function watchedChat(options: ChatOptions = {}) {
  let watching!: WatchService;
  const chat = await fixture({
    leastRatio: (model, libraryIds) => watching.leastRatio(model, libraryIds),
    ...options,
  });
  /** What a test changes. */
  const world = {
    nowMs: 1_000_000,
    betweenMs: BETWEEN_MS,
    battery: false,
    measuring: false,
    chance: 0,
    modelIds: ['m'],
    libraries: [{ id: '1', name: 'Papers' }],
  };
  const { models, settings, gate, bus } = chat;
  /** How often it was looked which model is in use. */
  let looks = 0;
  const open = (): WatchService =>
    new WatchService({
      settings,
      gate,
      events: bus,
      log: silentLogger,
      path: join(chat.dir, 'watching.sqlite'),
      models: {
        get active() {
          looks++;
          return { ...models.active, id: 'm' };
        },
        onChange: (listener) => models.onChange(listener),
      },
      known: { modelIds: () => world.modelIds, libraries: () => world.libraries },
      answers: chat.chat.remade,
      onBattery: () => world.battery,
      measuring: () => world.measuring,
      nowMs: () => world.nowMs,
      chance: () => world.chance,
      quietMs: 0,
    });
  watching = open();
  watching.start();
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
  const seen = () => watching.status().libraries[0];
  return {
    ...chat,
    id,
    world,
    ask,
    seen,
    status: () => watching.status(),
    reset: () => watching.reset('m', '1'),
    /** Resolves when so many answers were compared. */
    compared: (count: number) => expect.poll(() => seen()?.answers.length ?? 0).toBe(count),
    /** Resolves when it was found that nothing may be done now. */
    leftAlone: async () => {
      const before = looks;
      settings.update({ watchAnswers: true });
      await expect.poll(() => looks).toBeGreaterThan(before);
      await watching.idle();
    },
    queue: (status: Partial<QueueStatus>) => bus.emit('queue.status', { ...IDLE, ...status }),
    /** As after a restart of the program. */
    restart: async () => {
      await watching.close();
      watching = open();
      watching.start();
    },
  };
}
