/** Single answers from two documents with a model that only counts. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SettingsInput } from '../../src-shared/settings.ts';
import { SingleAnswers } from '../answering/single-answers.ts';
import { encodeAndStore } from '../fusion/model.ts';
import { CostModel } from '../fusion/planning/cost-model.ts';
import { Planner } from '../fusion/planning/planner.ts';
import { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import { Gate } from '../platform/gate.ts';
import type { Logger } from '../platform/logger.ts';
import { SettingsService } from '../platform/settings-service.ts';
import { FakeModel, FakeStore, type FakeModelOptions } from './fusion.ts';
import { listedLibrary } from './passages.ts';

const TEXTS = {
  'mara.md': ['Mara Lind\n\nMara Lind builds bridges.', 'She lives in Oslo, where many live.'],
  'tea.txt': 'Tea is free for all who live here.',
};

export async function singleAnswers(options: {
  model?: FakeModelOptions;
  settings?: Partial<SettingsInput>;
  log?: Pick<Logger, 'debug'>;
  watch?: ConstructorParameters<typeof SingleAnswers>[0]['watch'];
}) {
  const dir = mkdtempSync(join(tmpdir(), 'kvasir-answers-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const model = new FakeModel(options.model);
  const store = new FakeStore();
  const { all, passages, retrieval } = listedLibrary(model, TEXTS);
  for (const { tokens } of all) await encodeAndStore(model, store, { tokens, dtype: 'f16', label: '' });
  const costs = new CostModel(join(dir, 'costs.json'));
  const gate = new Gate();
  const service = new SingleAnswers({
    model,
    store,
    passages,
    retrieval,
    gate,
    name: 'Fake',
    log: options.log,
    ...(options.watch && { watch: options.watch }),
    planner: new Planner({ costs, store, calibration: () => undefined }),
    prefixes: new StoredPrefixes({ store, gate }),
    settings: new SettingsService(join(dir, 'settings.json'), {
      dtype: 'f16',
      strict: false,
      ...options.settings,
    }),
  });
  onTestFinished(() => service.close());
  return { model, store, service, chunks: all, session: () => model.sessions.at(-1) };
}
