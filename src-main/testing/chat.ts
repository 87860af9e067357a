/** A chat service with a model that only counts, three documents, and all events sent to windows. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Conversation, Message } from '../../src-shared/contract/chat.ts';
import { events as eventSchemas, type KvasirEvent } from '../../src-shared/contract/events.ts';
import { CostModel } from '../fusion/planning/cost-model.ts';
import { Planner } from '../fusion/planning/planner.ts';
import { encodeAndStore } from '../fusion/encode-chunks.ts';
import { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import { FakeModel, FakeStore, type FakeModelOptions } from './fusion.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import type { QuarantinedDatabase } from '../platform/database.ts';
import { EventBus } from '../platform/event-bus.ts';
import { Gate } from '../platform/gate.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { ChatService } from '../chat/chat-service.ts';
import type { NamedModel } from '../answering/named-model.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { ToolSource } from '../tools/tool.ts';
import type { UnreadyDocuments } from '../answering/passages.ts';
import { listedLibrary } from './passages.ts';

const CHATML = `{{ bos_token }}{% for m in messages %}<|im_start|>{{ m.role }}
{{ m.content | trim }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Documents whose passages are found by any of their words. */
export const TEXTS = {
  'mara.md': 'Mara Lind lives in Oslo. She builds bridges.',
  'jon.md': 'Jon Berg lives in Porto. He sells tea.',
  'tea.md': 'Tea is free for everybody.',
};

interface FixtureOptions extends FakeModelOptions {
  /** Use this folder again, as after a restart. */
  dir?: string;
  settings?: Record<string, unknown>;
  clock?: Clock;
  onSetAside?: (what: QuarantinedDatabase) => void;
  model?: FakeModel;
  toolSources?: readonly ToolSource[];
  /** Documents that are not searchable yet. */
  unready?: UnreadyDocuments;
  precompute?: boolean;
  waiting?: ConstructorParameters<typeof ChatService>[0]['waiting'];
  /** The minimum ratio that watching requires. */
  leastRatio?: ConstructorParameters<typeof Planner>[0]['leastRatio'];
}

export async function fixture({
  dir: given,
  settings: overrides = {},
  precompute = true,
  clock = systemClock,
  unready,
  onSetAside,
  model: ownModel,
  leastRatio,
  toolSources = [],
  waiting,
  ...modelOptions
}: FixtureOptions = {}) {
  const dir = given ?? mkdtempSync(join(tmpdir(), 'kvasir-chat-'));
  const model =
    ownModel ?? new FakeModel({ chatTemplate: CHATML, says: 'She lives in Oslo.', ...modelOptions });
  const store = new FakeStore();
  const { all: passages, gone, retrieval, passages: library } = listedLibrary(model, TEXTS, unready);
  if (precompute) {
    for (const { tokens } of passages)
      await encodeAndStore(model, store, [{ tokens }], { dtype: 'f16', label: '' });
  }
  const active: NamedModel<FusionModel> = { name: 'Fake', model };
  const listeners: ((now: NamedModel<FusionModel>) => void)[] = [];
  const models = {
    active,
    current: () => Promise.resolve(models.active),
    onChange: (listener: (now: NamedModel<FusionModel>) => void) => {
      listeners.push(listener);
      return () => undefined;
    },
    change: (now: NamedModel<FusionModel>) => {
      models.active = now;
      for (const listener of listeners) listener(now);
    },
  };
  const events: KvasirEvent[] = [];
  const bus = new EventBus();
  bus.on((event) => {
    eventSchemas[event.topic].parse(event.payload);
    events.push(event);
  });
  const settings = new SettingsService(join(dir, 'settings.json'), { strict: false, ...overrides });
  const costs = new CostModel(join(dir, 'costs.json'));
  const gate = new Gate();
  const chat = new ChatService({
    path: join(dir, 'conversations.sqlite'),
    models,
    localModels: models,
    retrieval,
    passages: library,
    store,
    settings,
    planner: new Planner({ costs, store, leastRatio, calibration: () => undefined }),
    prefixes: new StoredPrefixes({ store, gate }),
    events: bus,
    gate,
    log: LOG,
    clock,
    onSetAside,
    toolSources,
    waiting,
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await chat.close();
    closed = true;
  };
  onTestFinished(async () => {
    await close();
    rmSync(dir, { recursive: true, force: true });
  });
  /** Asks and waits for the answer. */
  const ask = async (id: string, text: string): Promise<Message> => {
    const { answerId } = chat.send(id, text);
    await chat.idle();
    return messageOf(chat.get(id), answerId);
  };
  return {
    chat,
    model,
    models,
    store,
    passages,
    gone,
    events,
    bus,
    gate,
    settings,
    dir,
    close,
    ask,
    session: () => model.sessions.at(-1),
  };
}

export function messageOf({ messages }: Conversation, id: string): Message {
  const message = messages.find((candidate) => candidate.id === id);
  if (!message) throw new Error(`no message ${id}`);
  return message;
}

export function ofTopic<T extends KvasirEvent['topic']>(events: KvasirEvent[], topic: T) {
  return events.filter((event): event is Extract<KvasirEvent, { topic: T }> => event.topic === topic);
}

export const NEW = { scope: { libraryIds: [], documentIds: [] } };
export const FULL = { ...NEW, strategy: { name: 'full' as const, ratio: 0.15 } };
