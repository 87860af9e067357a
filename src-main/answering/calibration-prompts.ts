import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { CalibrationRequest } from '../../src-shared/contract/calibration.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { TextSet } from '../fusion/calibration/calibrate.ts';
import type { PromptPart } from '../fusion/blender.ts';
import type { Model } from '../engine/engine.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { Catalogue, ChunkRow } from '../catalogue/catalogue.ts';
import type { ActiveModel } from '../models/active-model.ts';
import { TimeSlice } from '../platform/time-slice.ts';
import type { SearchRunner } from '../retrieval/search-thread.ts';
import { usualTopK } from '../retrieval/usual-top-k.ts';
import { contextLimit } from './choices.ts';
import { conversation } from './ask.ts';
import { tokenPrompt } from './backends/token-prompt.ts';
import { questionAbout, topicsOf } from './topic-questions.ts';

interface CalibrationTextOptions {
  model: Pick<FusionModel, 'tokenize' | 'info'>;
  catalogue: Pick<Catalogue, 'chunk'>;
  searches: SearchRunner;
  /** The library's chunks for this model. */
  chunkSetId: number;
  /** Tokens in a chunk at most. */
  chunkTokens: number;
  settings: Pick<Settings, 'topK' | 'contextTokens' | 'systemPrompt'>;
  /** Prompts for every strategy; as many again are for those that these leave undecided. */
  count: number;
  signal: AbortSignal;
}

/** A question and the passages in its prompt. */
interface Item {
  question: string;
  chunks: ChunkRow[];
}

const QuestionsSchema = z.array(z.object({ question: z.string() }));

/** Tokens reserved for the answer; only its beginning is measured. */
const ANSWER_TOKENS = 24;

/** Names asked about per chunk, besides its heading. */
const NAMED_PER_CHUNK = 2;

/**
 * Prompts from a library, laid out as in chat: from the requested one, else the sample library, else the first. NOT_FOUND when it has no
 * text for them; ABORTED.
 */
export function libraryTexts(parts: {
  catalogue: Pick<Catalogue, 'chunk' | 'chunkTable' | 'libraries'>;
  searches: SearchRunner;
  settings: { readonly current: Settings };
  sampleQuestions: string;
}): (
  active: Pick<ActiveModel<Model>, 'model' | 'chunkTokens'>,
  request: CalibrationRequest,
  signal: AbortSignal,
) => Promise<TextSet> {
  const { catalogue, searches, settings, sampleQuestions } = parts;
  return async ({ model, chunkTokens }, { libraryId, prompts }, signal) => {
    const all = catalogue.libraries.list(); // the sample library first
    const library = libraryId === undefined ? all[0] : all.find(({ id }) => String(id) === libraryId);
    const set = library && catalogue.chunkTable.findSet(library.id, model.info.fingerprint, chunkTokens);
    if (!library || set === undefined) throw noText(library?.name);
    const options = {
      model,
      catalogue,
      searches,
      chunkTokens,
      chunkSetId: set,
      settings: settings.current,
      count: prompts,
      signal,
    };
    const items = await (library.sample ? questionItems(options, sampleQuestions) : aboutTopics(options));
    if (items.length === 0) throw noText(library.name);
    const { systemPrompt } = settings.current;
    const contextTokens = contextLimit(model, settings.current.contextTokens);
    const how = { systemPrompt, think: false, contextTokens, maxTokens: ANSWER_TOKENS };
    const laidOut = items.map(({ question, chunks }): PromptPart[] => {
      const offered = chunks.map(({ text, path, tokens, lead }, i) => {
        return { text, label: path, tokens, lead, score: -i };
      });
      return tokenPrompt(model, conversation(question, offered, how)).parts;
    });
    return {
      library: library.name,
      kind: library.sample ? 'questions' : 'topics',
      prompts: laidOut.slice(0, prompts),
      more: laidOut.slice(prompts),
    };
  };
}

function noText(library: string | undefined): KvasirError {
  const message =
    library === undefined
      ? 'The library to measure with was not found.'
      : `The library ${library} has no text to measure with.`;
  const advice = 'Add documents and wait until they are read, or choose another library.';
  return new KvasirError('NOT_FOUND', message, advice);
}

/** Questions from a file with their retrieved passages: first `count`, spread evenly over it, then the others. */
async function questionItems(options: CalibrationTextOptions, path: string): Promise<Item[]> {
  const { count } = options;
  const all = QuestionsSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const wanted = Math.min(count, all.length);
  const spread = new Set(
    Array.from({ length: wanted }, (_, i) => all[Math.floor((i * all.length) / wanted)]),
  );
  const others = all.filter((item) => !spread.has(item)).slice(0, count);
  const items: Item[] = [];
  for (const item of [...spread, ...others]) {
    if (!item) continue;
    const chunks = await passagesFor(item.question, options);
    if (chunks.length > 0) items.push({ question: item.question, chunks });
  }
  return items;
}

/**
 * Questions about names in the library's headings and texts, with the passages that a search for the name finds. Neither a model nor a
 * person writes them, so they work for any library. A hash of the text picks the chunks, so that the same library yields the same prompts;
 * names in headings come first.
 */
async function aboutTopics(options: CalibrationTextOptions): Promise<Item[]> {
  const { catalogue, searches, chunkSetId, count, signal } = options;
  const order = await searches.run('scattered', [chunkSetId], signal);
  const slice = new TimeSlice();
  const asked = new Set<string>();
  const items: Item[] = [];
  for (const take of [firstTopic, otherTopics]) {
    for (const id of order) {
      await slice.step(signal);
      const chunk = catalogue.chunk(id);
      for (const topic of chunk ? take(topicsOf(chunk)) : []) {
        if (items.length === 2 * count) return items;
        if (!chunk || asked.has(topic)) continue;
        asked.add(topic);
        const { question } = questionAbout(topic, chunk);
        const chunks = await passagesFor(topic, options);
        if (chunks.length > 0) items.push({ question, chunks });
      }
    }
  }
  return items;
}

function firstTopic(topics: readonly string[]): readonly string[] {
  return topics.slice(0, 1);
}

function otherTopics(topics: readonly string[]): readonly string[] {
  return topics.slice(1, 1 + NAMED_PER_CHUNK);
}

async function passagesFor(text: string, options: CalibrationTextOptions): Promise<ChunkRow[]> {
  const { catalogue, searches, chunkSetId, chunkTokens, settings, signal } = options;
  const topK = settings.topK ?? usualTopK(chunkTokens);
  const found = await searches.run('retrieve', [text, { chunkSetIds: [chunkSetId] }, topK], signal);
  return found.flatMap(({ chunkId }) => catalogue.chunk(chunkId) ?? []);
}
