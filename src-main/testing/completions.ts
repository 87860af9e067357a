/** A completion service with a model that only counts, and a library of three documents. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SettingsInput } from '../../src-shared/settings.ts';
import { CompletionService } from '../completions/completion-service.ts';
import type { CompletionRequest } from '../completions/types.ts';
import { CostModel } from '../fusion/planning/cost-model.ts';
import { Planner } from '../fusion/planning/planner.ts';
import { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import type { ServerModel } from '../models/sources/servers/server-model.ts';
import { Gate } from '../platform/gate.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { TEXTS } from './chat.ts';
import { CHAT_TEMPLATES } from './chat-templates.ts';
import { FakeModel, FakeStore, type FakeModelOptions } from './fusion.ts';
import { listedLibrary } from './passages.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

type CompletionFixtureOptions = Pick<ConstructorParameters<typeof Planner>[0], 'leastRatio'> &
  Pick<ConstructorParameters<typeof CompletionService>[0], 'watch' | 'waiting'>;

interface CompletionFixtureModel {
  settings?: Partial<SettingsInput>;
  /** Answers in place of the model. */
  server?: ServerModel;
  /** No model is loaded until one is asked. */
  idle?: boolean;
}

export function completionFixture({
  settings: overrides,
  leastRatio,
  watch,
  waiting,
  server,
  idle = false,
  ...options
}: FakeModelOptions & CompletionFixtureOptions & CompletionFixtureModel = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-completions-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const model = new FakeModel({ chatTemplate: CHAT_TEMPLATES.qwen2, says: 'She lives in Oslo.', ...options });
  const store = new FakeStore();
  const { retrieval, passages, gone } = listedLibrary(model, TEXTS);
  const gate = new Gate();
  const active = { name: 'Fake', model: server ?? model };
  const settings = new SettingsService(join(dir, 'settings.json'), overrides ?? {});
  const service = new CompletionService({
    gate,
    store,
    retrieval,
    passages,
    log: LOG,
    models: {
      active: idle ? undefined : active,
      current: () => Promise.resolve(active),
    },
    listed: () => [
      { name: 'Fake', role: 'chat', active: true },
      { name: 'Other', role: 'chat', active: false },
    ],
    libraries: () => [
      { id: '1', name: 'Notes' },
      { id: '2', name: 'Twice' },
      { id: '3', name: 'Twice' },
    ],
    settings,
    planner: new Planner({
      store,
      costs: new CostModel(join(dir, 'costs.json')),
      calibration: () => undefined,
      leastRatio,
    }),
    prefixes: new StoredPrefixes({ store, gate }),
    openSession: (from, capacity) => from.createSession(capacity),
    waiting,
    ...(watch && { watch }),
  });
  return { dir, model, store, gone, service, gate, settings };
}

/** A request with one user message. */
export function question(text: string, more: Partial<CompletionRequest> = {}): CompletionRequest {
  return { model: 'Fake', prompt: { messages: [{ role: 'user', parts: [{ text }] }] }, ...more };
}
