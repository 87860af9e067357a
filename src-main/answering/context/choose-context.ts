import type { Notice } from '../../../src-shared/answer.ts';
import type { ContextKind } from '../../../src-shared/contract/context.ts';
import type { Scope } from '../../../src-shared/contract/search.ts';
import { parseFilters } from '../../../src-shared/search-filters.ts';
import type { Planner } from '../../fusion/planning/planner.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import type { Retrieval } from '../../retrieval/types.ts';
import { backendOf } from '../backends/backend-of.ts';
import { answerReserve, type AnswerChoices } from '../choices.ts';
import type { NamedModel } from '../named-model.ts';
import { newestNotice } from '../notices.ts';
import { findPassages, type FoundPassage, type Passages, type ReadableDocuments } from '../passages.ts';
import type { Prompt } from '../prompt.ts';
import { pointsBack, searchText, standAlone, type PastQuestion } from './follow-up.ts';
import { openingsNotice } from './openings-notice.ts';
import { openingsOf } from './openings.ts';
import { hasTellingWords, wordShare } from './word-share.ts';

/** Reason of a passage that is included because its whole document is. */
const WHOLE_DOCUMENT = 'whole-document';

/** A passage answers a question if it contains more than this share of its telling words. */
const ANSWERS = 1 / 2;
/** Share of the context that a scope nobody chose may take although passages were found. */
const BESIDE_MATCHES = 1 / 2;
/** Share of the context for openings. */
const FOR_OPENINGS = 1 / 2;
/** Longer waits for the first token need a person's choice: of documents, or of an analysis. */
const LONGEST_WAIT_MS = 30_000;
/** The same where a person chose the documents: the wait is announced before the question is sent. */
const LONGEST_CHOSEN_WAIT_MS = 60_000;

export interface ContextRequest extends Pick<NamedModel, 'model'> {
  question: string;
  /** The answered questions before it, oldest first. */
  earlier: readonly PastQuestion[];
  scope: Scope;
  choices: AnswerChoices;
  /** The prompt with these passages. */
  layOut: (passages: readonly FoundPassage[]) => Prompt;
  signal?: AbortSignal | undefined;
}

interface ContextParts {
  retrieval: Retrieval;
  passages: Passages;
  planner: Planner;
  /** Has the model write a line that follows a grammar; absent: follow-ups are not rewritten. */
  write?: ((prompt: string, grammar: string) => Promise<string>) | undefined;
  /** Called with the error that a follow-up is not rewritten for. */
  onFailed?: ((error: unknown) => void) | undefined;
}

/** What a question gets to read. */
export interface ChosenContext {
  kind: ContextKind;
  /** In prompt order. */
  passages: FoundPassage[];
  /** What was searched for, or would have been. */
  search: string;
  notices: Notice[];
}

/**
 * Chooses what a question reads, by what fits and what is found, not by its wording (decision 0273): chosen documents whole where they fit;
 * else the passages found if one of them answers the question; else the whole scope where it fits; else the outlines and openings of its
 * documents, with the passages found in chosen ones. ABORTED.
 */
export async function chooseContext(request: ContextRequest, parts: ContextParts): Promise<ChosenContext> {
  const { question, earlier, scope, signal } = request;
  throwIfAborted(signal);
  const isChosen = scope.documentIds.length > 0;
  // Only a search knows which documents its filters leave.
  const isFiltered = parseFilters(question).filters !== null;
  const context = new Context(request, parts);
  const joined = searchText(
    question,
    earlier.map((each) => each.question),
  );
  if (isChosen && !isFiltered) {
    const passages = await context.everything(1);
    if (passages) return chosenOf('everything', { passages, search: joined });
  }
  const follows = pointsBack(question) && hasTellingWords(question);
  const standsAlone = await context.rewritten();
  const first = await context.search(standsAlone ?? (follows ? joined : question));
  if (first.answers || isFiltered) return chosenOf('passages', first);
  if (!isChosen) {
    const passages = await context.everything(first.matches.length > 0 ? BESIDE_MATCHES : 1);
    if (passages) return chosenOf('everything', { passages, search: first.search });
  }
  const last = standsAlone !== undefined || first.search === joined ? first : await context.search(joined);
  if (last.answers || (last.matches.length > 0 && !isChosen)) return chosenOf('passages', last);
  return { ...(await context.openings(last.matches)), search: last.search };
}

function chosenOf(
  kind: ContextKind,
  { passages, search, notices = [] }: Pick<ChosenContext, 'passages' | 'search'> & Partial<ChosenContext>,
): ChosenContext {
  return { kind, passages, search, notices };
}

/** What a search found. */
interface SearchOutcome {
  search: string;
  passages: FoundPassage[];
  notices: Notice[];
  /** Whether one of them answers the question, by the words it contains. */
  answers: boolean;
  /** The passages, unless they were found by function words alone. */
  matches: FoundPassage[];
}

/** The ways to choose passages. */
class Context {
  readonly #request: ContextRequest;
  readonly #parts: ContextParts;
  readonly #readable: ReadableDocuments;

  constructor(request: ContextRequest, parts: ContextParts) {
    this.#request = request;
    this.#parts = parts;
    this.#readable = parts.passages.readable(request.scope);
  }

  /** ABORTED. */
  async search(search: string): Promise<SearchOutcome> {
    const { question, scope, choices, signal } = this.#request;
    const { retrieval, passages: library } = this.#parts;
    const { chunks, newest } = await retrieval.find(search, { scope, topK: choices.topK, signal });
    throwIfAborted(signal);
    const passages = findPassages(chunks, library);
    const answers = Math.max(wordShare(search, passages), wordShare(question, passages)) > ANSWERS;
    const notices = newestNotice(newest);
    return { search, passages, notices, answers, matches: hasTellingWords(search) ? passages : [] };
  }

  /** Every passage in scope, if all fit this share of the context, with question and answer, and are processed soon enough. */
  async everything(share: number): Promise<FoundPassage[] | undefined> {
    const { scope, choices } = this.#request;
    const { contextTokens, topK = Infinity } = choices;
    const { documents, count, tokens, isComplete } = this.#readable;
    if (!isComplete || count === 0 || count > documents.length || tokens > contextTokens * share)
      return undefined;
    const { passages } = this.#parts;
    const all = documents.flatMap(({ id }) => passages.passagesOf(id));
    if (all.length > topK) return undefined;
    const chosen = all.map(({ id: chunkId }) => {
      return { chunkId, score: 1, reason: WHOLE_DOCUMENT, highlights: [] };
    });
    const found = findPassages(chosen, passages);
    const isChosen = scope.documentIds.length > 0;
    const longest = isChosen ? LONGEST_CHOSEN_WAIT_MS : LONGEST_WAIT_MS;
    const { prompt, isSoon } = await this.#layOut(found, longest);
    // Documents that nobody chose displace no turn of the conversation.
    const fits = prompt.leftOut.length === 0 && (isChosen || prompt.turnsLeftOut === 0);
    return fits && isSoon ? found : undefined;
  }

  /** Outlines and openings of the documents in scope, before the passages found in them. */
  async openings(matches: readonly FoundPassage[]): Promise<Omit<ChosenContext, 'search'>> {
    const { model, choices } = this.#request;
    const { documents } = this.#readable;
    const ids = new Set(matches.map(({ passage }) => passage.id));
    const most = choices.topK ?? Infinity;
    for (let tokens = choices.contextTokens * FOR_OPENINGS; ; tokens /= 2) {
      const openings = openingsOf(documents, { tokens, most }, this.#parts.passages, model);
      const others = openings.filter(({ passage, reason }) => reason === 'outline' || !ids.has(passage.id));
      const passages = [...others, ...matches];
      const laidOut = await this.#layOut(passages);
      if (!laidOut.isSoon && openings.length > 1) continue;
      const window = choices.contextTokens - answerReserve(choices);
      const shown = { ...laidOut, readable: this.#readable, passages: this.#parts.passages, window };
      return { kind: 'openings', passages, notices: openings.length === 0 ? [] : openingsNotice(shown) };
    }
  }

  /** The question as one that stands alone; undefined where it is not rewritten. ABORTED. */
  async rewritten(): Promise<string | undefined> {
    const { question, earlier, model, signal } = this.#request;
    const { write, onFailed } = this.#parts;
    if (!write) return undefined;
    try {
      return await standAlone(question, earlier, { model, write });
    } catch (error) {
      throwIfAborted(signal);
      onFailed?.(error);
      return undefined;
    }
  }

  async #layOut(found: readonly FoundPassage[], longestMs = LONGEST_WAIT_MS) {
    const { model, choices, layOut } = this.#request;
    const prompt = layOut(found);
    const forecast = await backendOf(model).foresee(prompt, { choices, planner: this.#parts.planner });
    return { prompt, forecast, isSoon: (forecast?.ms ?? 0) <= longestMs };
  }
}
