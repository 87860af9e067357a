/** An analysis service with a model that only counts, and documents of a few chunks. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Analysis } from '../../src-shared/contract/analysis.ts';
import { events as eventSchemas, type KvasirEvent } from '../../src-shared/contract/events.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Passage } from '../answering/passages.ts';
import { CostModel } from '../fusion/planning/cost-model.ts';
import { Planner } from '../fusion/planning/planner.ts';
import { FakeModel, FakeStore, type FakeModelOptions } from './fusion.ts';
import { EventBus } from '../platform/event-bus.ts';
import { Gate } from '../platform/gate.ts';
import { SettingsService } from '../platform/settings-service.ts';
import type { Retrieval } from '../retrieval/types.ts';
import { AnalysisService } from '../analysis/analysis-service.ts';
import type { AnalysisModel, Documents } from '../analysis/library-documents.ts';

const LOG = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

interface AnalysisFixtureOptions extends FakeModelOptions {
  /** Use this folder again, as after a restart. */
  dir?: string;
  settings?: Record<string, unknown>;
  /** Chunks of the document with id 1. */
  chunks?: readonly string[];
  /** Called for every question that passages are retrieved for. */
  onFind?: (question: string) => void;
}

/** Ten chunks, each about a different town. */
export const CHUNKS = ['Oslo', 'Porto', 'Riga', 'Turin', 'Lyon', 'Bonn', 'Cork', 'Nice', 'Bern', 'Graz'].map(
  (town, i) => `Part ${i + 1} tells of ${town} and its harbour.`,
);

export function fixture({
  dir: given,
  settings: overrides = {},
  chunks = CHUNKS,
  onFind = () => undefined,
  ...modelOptions
}: AnalysisFixtureOptions = {}) {
  const dir = given ?? mkdtempSync(join(tmpdir(), 'kvasir-analysis-'));
  const model = new FakeModel({ says: 'What was found.', ...modelOptions });
  const store = new FakeStore();
  const passages = chunks.map((text, ordinal): Passage => {
    const tokens = model.tokenize(`${text}\n\n`);
    const place = { ordinal, start: ordinal * 100, end: ordinal * 100 + text.length };
    return {
      id: ordinal + 1,
      documentId: 1,
      libraryId: 1,
      path: 'towns.md',
      title: 'Towns',
      text,
      tokens,
      lead: new Int32Array(),
      ...place,
    };
  });
  const state = { version: 'v1', gone: false };
  const documents: Documents = {
    open: (id) => {
      if (state.gone || id !== '1') throw new KvasirError('NOT_FOUND', 'This document is gone.');
      return {
        id,
        libraryId: '1',
        path: 'towns.md',
        title: 'Towns',
        version: state.version,
        chunkIds: passages.map((passage) => passage.id),
        lengths: passages.map(({ tokens }) => tokens.length),
        chunk: (index) => passages[index] ?? { tokens: new Int32Array(0) },
      };
    },
  };
  const retrieval: Retrieval = {
    usualTopK: 6,
    find: (question) => {
      onFind(question);
      const words = question.match(/\w+/g) ?? [];
      const found = passages.filter(({ text }) => words.some((word) => text.includes(word)));
      const chosen = found.map(({ id, documentId, ordinal }, i) => ({
        chunkId: id,
        documentId,
        ordinal,
        score: 10 - i,
        reason: 'match' as const,
        fullText: null,
        vector: null,
        highlights: [{ start: 0, end: 4 }],
      }));
      return Promise.resolve({
        chunks: chosen,
        matches: 1,
        ended: 'all' as const,
        usedVectors: false,
        newest: null,
        ms: 0,
      });
    },
  };
  const models = { active: { name: 'Fake', model, chunkTokens: 64 } as AnalysisModel };
  const events: KvasirEvent[] = [];
  const bus = new EventBus();
  bus.on((event) => {
    eventSchemas[event.topic].parse(event.payload);
    events.push(event);
  });
  const gate = new Gate();
  const costs = new CostModel(join(dir, 'costs.json'));
  const service = new AnalysisService({
    path: join(dir, 'analyses.sqlite'),
    models: {
      get active() {
        return models.active;
      },
      current: () => Promise.resolve(models.active),
    },
    passages: {
      chunk: (id) => passages.find((passage) => passage.id === id),
      document: (id) => (state.gone || id !== 1 ? undefined : { path: 'towns.md' }),
      neighbours: () => [],
      unready: () => ({ reading: 0, uncut: 0, paused: false }),
      readable: () => ({ documents: [], count: 0, tokens: 0, isComplete: true }),
      passagesOf: () => [],
      tokensOf: () => undefined,
      pageLabel: () => null,
    },
    settings: new SettingsService(join(dir, 'settings.json'), overrides),
    planner: new Planner({ costs, store, calibration: () => undefined }),
    openSession: (opener, capacity) => opener.createSession(capacity),
    documents,
    retrieval,
    store,
    events: bus,
    gate,
    log: LOG,
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await service.close();
    closed = true;
  };
  onTestFinished(async () => {
    await close();
    rmSync(dir, { recursive: true, force: true });
  });
  /** Waits for all running work. */
  const finished = async (id: string): Promise<Analysis> => {
    await service.idle();
    return service.get(id);
  };
  return { service, model, models, store, state, events, gate, dir, close, finished };
}
