import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { CalibrationRequest } from '../../src-shared/contract/calibration.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { TextSet } from '../fusion/calibration/calibrate.ts';
import type { PromptPart } from '../fusion/blender.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { Catalogue, ChunkRow } from '../library/catalogue.ts';
import type { ActiveModel } from '../models/active-model.ts';
import { retrieve } from '../retrieval/retriever.ts';
import { SearchIndex } from '../retrieval/search-index.ts';
import { contextLimit } from './limits.ts';
import { PromptAssembler } from './prompt.ts';

export interface CalibrationTextOptions {
  model: Pick<FusionModel, 'tokenize' | 'info'>;
  catalogue: Pick<Catalogue, 'database' | 'chunk' | 'chunks'>;
  /** The library's chunks for this model. */
  chunkSetId: number;
  library: string;
  settings: Pick<Settings, 'topK' | 'contextTokens' | 'systemPrompt'>;
  /** Prompts at most. */
  count: number;
  /** File of questions about the library; absent: they are made from its documents. */
  questions?: string | undefined;
}

/** A question and the passages in its prompt. */
interface Item {
  question: string;
  chunks: ChunkRow[];
}

const QuestionsSchema = z.array(z.object({ question: z.string() }));

/** An answer's share of the context; what is measured is its beginning. */
const ANSWER_TOKENS = 24;

/** Words a sentence needs so that its beginning says what it is about. */
const LEAST_WORDS = 8;

/** Any name does; the same one gives the same prompts every time. */
const SEED = 'kvasir';

/** Prompts as chat lays them out, from a library. NOT_FOUND when it has no text for them. */
export function calibrationTexts(options: CalibrationTextOptions): TextSet {
  const { model, settings, library, questions } = options;
  const items = questions === undefined ? continuations(options) : asked(options, questions);
  if (items.length === 0) throw noText(library);
  const assembler = new PromptAssembler(model, settings.systemPrompt);
  const budget = { contextTokens: contextLimit(model, settings.contextTokens), answerTokens: ANSWER_TOKENS };
  const prompts = items.map(({ question, chunks }): PromptPart[] => {
    const offered = chunks.map(({ tokens }, i) => ({ tokens, score: -i }));
    return assembler.assemble(question, offered, budget).parts;
  });
  return { library, kind: questions === undefined ? 'continuations' : 'questions', prompts };
}

/** Prompts from a library of the app: the one that is asked for, else the sample library, else the first. NOT_FOUND. */
export function libraryTexts(parts: {
  catalogue: Pick<Catalogue, 'database' | 'chunk' | 'chunks' | 'chunkTable' | 'libraries'>;
  settings: { readonly current: Settings };
  sampleQuestions: string;
}): (active: Pick<ActiveModel, 'model' | 'chunkTokens'>, request: CalibrationRequest) => TextSet {
  const { catalogue, settings, sampleQuestions } = parts;
  return ({ model, chunkTokens }, { libraryId, prompts }) => {
    const all = catalogue.libraries.list(); // the sample library first
    const library = libraryId === undefined ? all[0] : all.find(({ id }) => String(id) === libraryId);
    const set = library && catalogue.chunkTable.findSet(library.id, model.info.fingerprint, chunkTokens);
    if (!library || set === undefined) throw noText(library?.name);
    const questions = library.sample ? sampleQuestions : undefined;
    return calibrationTexts({
      ...{ model, catalogue, questions },
      ...{ chunkSetId: set, library: library.name, settings: settings.current, count: prompts },
    });
  };
}

function noText(library: string | undefined): KvasirError {
  const message =
    library === undefined
      ? 'There is no such library to measure with.'
      : `The library ${library} has no text to measure with.`;
  const advice = 'Add documents and wait until they are read, or choose another library.';
  return new KvasirError('NOT_FOUND', message, advice);
}

/** Questions of a file, spread evenly over it, with the passages that search finds. */
function asked({ catalogue, chunkSetId, settings, count }: CalibrationTextOptions, path: string): Item[] {
  const all = QuestionsSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
  const wanted = Math.min(count, all.length);
  const index = new SearchIndex(catalogue.database, chunkSetId);
  return Array.from({ length: wanted }, (_, i) => all[Math.floor((i * all.length) / wanted)]).flatMap(
    (item) => {
      if (!item) return [];
      const { question } = item;
      const found = retrieve(index, question, settings.topK);
      const chunks = found.flatMap(({ chunkId }) => catalogue.chunk(chunkId) ?? []);
      return chunks.length > 0 ? [{ question, chunks }] : [];
    },
  );
}

/**
 * Begun sentences: the first half of one from a chunk that a hash picks, behind that chunk and those around it in reading order. No model
 * and no person writes a word of it, so it works for any library; but going on with a text is easier than answering.
 */
function continuations({ catalogue, chunkSetId, settings: { topK }, count }: CalibrationTextOptions): Item[] {
  const ids: number[] = [];
  const order: { rank: string; at: number }[] = [];
  for (const { id, text } of catalogue.chunks(chunkSetId)) {
    const rank = createHash('sha256').update(`${SEED}\n${text}`).digest('hex');
    order.push({ rank, at: ids.length });
    ids.push(id);
  }
  const items: Item[] = [];
  for (const { rank, at } of order.toSorted((a, b) => (a.rank < b.rank ? -1 : 1))) {
    if (items.length === count) break;
    const begun = beginning(catalogue.chunk(ids[at] ?? -1)?.text ?? '', rank);
    if (begun === undefined) continue;
    const first = Math.max(0, Math.min(at - Math.floor(topK / 2), ids.length - topK));
    const chunks = ids.slice(first, first + topK).flatMap((id) => catalogue.chunk(id) ?? []);
    items.push({ question: `Continue this sentence from the documents above: "${begun}`, chunks });
  }
  return items;
}

const SENTENCES = new Intl.Segmenter(undefined, { granularity: 'sentence' });
const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' });

/** The first half of one of the text's longer sentences; undefined when it has none. */
function beginning(text: string, rank: string): string | undefined {
  const halves = [...SENTENCES.segment(text)].flatMap(({ segment }) => {
    const words = [...WORDS.segment(segment.trim())].filter(({ isWordLike }) => isWordLike === true);
    const middle = words[Math.floor(words.length / 2)];
    return words.length >= LEAST_WORDS && middle ? [segment.trim().slice(0, middle.index).trimEnd()] : [];
  });
  return halves[Number.parseInt(rank.slice(0, 8), 16) % Math.max(1, halves.length)];
}
