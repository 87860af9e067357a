import { existsSync, readFileSync } from 'node:fs';
import type { AnalysisService } from '../analysis/analysis-service.ts';
import type { ChatService } from '../chat/chat-service.ts';
import type { ModelRegistry } from '../models/registry/model-registry.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { jsonEntry, textEntry, type ExportEntry } from './entry.ts';
import type { ExportNames } from './names.ts';

export type Conversations = Pick<
  ChatService,
  'list' | 'get' | 'export' | 'report' | 'projects' | 'drafts' | 'comparisons'
>;
export type Analyses = Pick<AnalysisService, 'list' | 'get' | 'export'>;

/** Every conversation that is not deleted, as Markdown and as JSON with what the engine reported; projects; drafts. */
export function* conversationEntries(chat: Conversations, names: ExportNames): Generator<ExportEntry> {
  for (const { id } of chat.list()) {
    const markdown = present(() => chat.export(id, 'markdown', { thinking: true }));
    const json = present(() => chat.export(id, 'json', { thinking: true }));
    if (!markdown || !json) continue;
    yield textEntry(names.free('conversations', markdown.fileName), markdown.content);
    yield textEntry(names.free('conversations', json.fileName), json.content);
    const reports = chat.get(id).messages.flatMap(({ id: answerId, hasReport }) => {
      const { comparison } = chat.comparisons.status(answerId);
      if (!hasReport && !comparison) return [];
      return [{ answerId, report: hasReport ? chat.report(answerId) : null, comparison }];
    });
    if (reports.length === 0) continue;
    const name = json.fileName.replace(/\.json$/, '.reports.json');
    yield jsonEntry(names.free('conversations', name), { kvasirReports: 1, conversationId: id, reports });
  }
  yield jsonEntry('projects.json', { kvasirProjects: 1, projects: chat.projects() });
  yield jsonEntry('drafts.json', { kvasirDrafts: 1, drafts: chat.drafts() });
}

/** Every analysis as Markdown and JSON, and batches of questions as CSV too. */
export function* analysisEntries(analyses: Analyses, names: ExportNames): Generator<ExportEntry> {
  for (const { id, kind } of analyses.list())
    for (const format of ['markdown', 'json', 'csv'] as const) {
      if (format === 'csv' && kind !== 'questions') continue;
      const file = present(() => analyses.export(id, format));
      if (file) yield textEntry(names.free('analyses', file.fileName), file.content);
    }
}

/** What a person chose: settings as they are stored, and the models without their weights. */
export function* choiceEntries(
  settingsPath: string,
  models: Pick<ModelRegistry, 'all'>,
): Generator<ExportEntry> {
  if (existsSync(settingsPath)) yield textEntry('settings.json', readFileSync(settingsPath, 'utf8'));
  const listed = models.all().map(({ id, name, path, origin, adapter, source, server, prefixes, header }) => {
    const called = name ?? header.name;
    return { id, name: called, path, origin, adapter, source, server, prefixes };
  });
  yield jsonEntry('models.json', { kvasirModels: 1, models: listed });
}

/** undefined: it was deleted since it was listed. */
function present<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof KvasirError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}
