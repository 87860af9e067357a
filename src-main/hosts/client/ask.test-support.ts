/** A client of a chat service with two documents and a model that only counts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Handlers } from '../../../src-shared/contract/contract.ts';
import type { SettingsInput } from '../../../src-shared/settings.ts';
import { createApi } from '../../api/api.ts';
import { chatHandlers } from '../../api/chat.ts';
import { ChatService } from '../../chat/chat-service.ts';
import { encodeAndStore } from '../../fusion/encode-chunks.ts';
import { CostModel } from '../../fusion/planning/cost-model.ts';
import { Planner } from '../../fusion/planning/planner.ts';
import { StoredPrefixes } from '../../fusion/stored-prefixes.ts';
import { EventBus } from '../../platform/event-bus.ts';
import { Gate } from '../../platform/gate.ts';
import { silentLogger, type Logger } from '../../platform/logger.ts';
import { SettingsService } from '../../platform/settings-service.ts';
import { FakeModel, FakeStore, type FakeModelOptions } from '../../testing/fusion.ts';
import { listedLibrary } from '../../testing/passages.ts';
import { CoreClient } from './client.ts';

const TEXTS = {
  'mara.md': ['Mara Lind\n\nMara Lind builds bridges.', 'She lives in Oslo, where many live.'],
  'tea.txt': 'Tea is free for all who live here.',
};

export async function chatClient(options: {
  model?: FakeModelOptions;
  settings?: Partial<SettingsInput>;
  log?: Pick<Logger, 'debug'>;
}) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-answers-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const model = new FakeModel(options.model);
  const store = new FakeStore();
  const { all, passages, retrieval } = listedLibrary(model, TEXTS);
  for (const { tokens } of all) await encodeAndStore(model, store, [{ tokens }], { dtype: 'f16', label: '' });
  const costs = new CostModel(join(dir, 'costs.json'));
  const gate = new Gate();
  const events = new EventBus();
  const active = { name: 'Fake', model };
  const log = { ...silentLogger, ...options.log };
  const models = { active, current: () => Promise.resolve(active), onChange: () => () => undefined };
  const chat = new ChatService({
    path: ':memory:',
    models,
    localModels: models,
    store,
    passages,
    retrieval,
    gate,
    events,
    log,
    planner: new Planner({ costs, store, calibration: () => undefined }),
    prefixes: new StoredPrefixes({ store, gate }),
    settings: new SettingsService(join(dir, 'settings.json'), {
      dtype: 'f16',
      strict: false,
      ...options.settings,
    }),
  });
  onTestFinished(() => chat.close());
  const handlers = chatHandlers({ chat, prefetcher: { draft: () => undefined } as never });
  const api = createApi(handlers as Handlers, log);
  const client = new CoreClient({ ...api, onEvent: (listener) => events.on(listener) });
  return { client, chat, events, model, store, chunks: all, session: () => model.sessions.at(-1) };
}
