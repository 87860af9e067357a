import type { Citation } from '../../src-shared/contract/chat.ts';
import type { Notice } from '../../src-shared/answer.ts';
import { encodeMissing } from '../answering/encode-missing.ts';
import {
  fallbackNotice,
  promptNotices,
  lostNotice,
  quarantineNotice,
  endingNotices,
  unreadyNotice,
} from '../answering/notices.ts';
import { citationsOf, type FoundPassage } from '../answering/passages.ts';
import type { Prompt } from '../answering/prompt.ts';
import { passingAnswer } from '../answering/remade-prompt.ts';
import { SessionTokens } from '../answering/session-tokens.ts';
import { answerStats } from '../answering/stats.ts';
import type { Stopwatch } from '../answering/stopwatch.ts';
import { ThoughtStream } from '../answering/thoughts.ts';
import { unsupportedIn, unsupportedNotice } from '../answering/unsupported.ts';
import { runTurn, type BlendedPrompt, type TurnResult } from '../answering/turn.ts';
import { isRemote, type ChunkCache, type FusionModel, type FusionSession } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { StoredPrefixes } from '../fusion/stored-prefixes.ts';
import type { PassingAnswer } from '../fusion/watching/watch-service.ts';
import { throwIfAborted } from '../platform/abort.ts';
import type { Logger } from '../platform/logger.ts';
import { AnswerText, PlainWriting } from './answer-text.ts';
import type { Asked, AskedChunk } from './asked.ts';
import { CitationMarks } from './citation-marks.ts';
import type { CompletionRequest, CompletionResult, CompletionRun, PromptUsage } from './types.ts';
import { cachedTokens } from './usage.ts';

/** Priority among concurrent appends: a person's have 0. */
const BEHIND_PEOPLE = 1;

interface TurnParts {
  name: string;
  model: FusionModel;
  request: CompletionRequest;
  run: CompletionRun;
  store: ChunkCache;
  planner: Planner;
  prefixes: StoredPrefixes;
  watch?: ((answer: PassingAnswer | undefined) => void) | undefined;
  log: Logger;
  openSession: (model: FusionModel, capacity: number) => FusionSession;
  /** Started when the request arrived. */
  stopwatch: Stopwatch;
  /** Milliseconds of that time already spent. */
  before: { wait: number; retrieve: number };
}

/** The chunks of a prompt that were encoded and stored for it. */
interface StoredNow {
  tokens: number;
  /** Indices of the prompt's parts. */
  parts: ReadonlySet<number>;
}

/** Makes one answer in a separate session. Call only while nobody else uses the model. Errors as CompletionService.complete. */
export async function completeTurn(asked: Asked, parts: TurnParts): Promise<CompletionResult> {
  const { request, run, model, openSession, stopwatch } = parts;
  const { prompt, choices } = asked;
  const stopped = new AbortController();
  // A library is asked a question, whatever form it arrives in.
  const raw = (asked.library === undefined && 'text' in request.prompt) || request.grammar !== undefined;
  const writing = raw ? new PlainWriting(model) : new ThoughtStream(model, prompt.behind);
  const answer = new AnswerText({
    ...run,
    model,
    writing,
    stops: request.stop ?? [],
    marks: request.grammar === undefined ? marksFor(asked) : undefined,
    onStop: () => stopped.abort(),
  });
  const storedNow = await storeChunks(asked, parts);
  const assemble = stopwatch.lap();
  const maxTokens = Math.min(choices.maxTokens, choices.contextTokens - prompt.tokens);
  const session = new SessionTokens(openSession(model, prompt.tokens + maxTokens));
  try {
    const turn = await runTurn(prompt, session, {
      ...parts,
      dtype: choices.dtype,
      strategy: choices.strategy,
      sampling: choices.sampling,
      mayRepeat: raw,
      maxTokens,
      writing,
      before: { ...parts.before, assemble },
      requestClass: 'api',
      priority: BEHIND_PEOPLE,
      signal: AbortSignal.any([run.signal, stopped.signal]),
      onPrompt: (blended) => {
        if (!isRemote(model)) run.onPrompt?.(promptUsage(prompt, blended, storedNow));
      },
      onToken: (token, chances) => answer.token(token, chances),
      onThought: (more) => answer.think(more),
      onText: (more) => answer.write(more),
    });
    if (answer.stoppedBy === undefined) throwIfAborted(run.signal);
    answer.end();
    const result = resultOf(asked, parts, { turn, answer, storedNow, thoughtTokens: writing.tokensBefore });
    // Without an answer it only filled the cache.
    if (maxTokens > 0) parts.watch?.(passingAnswer(prompt, turn, result.made.stats, model));
    return result;
  } finally {
    session.dispose();
  }
}

/** Stores chunks so that the next prompt finds them, too. */
async function storeChunks({ prompt, choices }: Asked, parts: TurnParts): Promise<StoredNow> {
  const { model, store, planner, log, run, stopwatch } = parts;
  const stored = new Set<AskedChunk>();
  const encoded = await encodeMissing(
    prompt.cited.map(({ chunk }) => chunk),
    {
      model,
      store,
      choices,
      costs: planner.costs,
      clock: stopwatch.clock,
      signal: run.signal,
      onRefused: (error) => log.warn('chunk-not-stored', { error: String(error) }),
      onEncoded: (chunk) => stored.add(chunk),
    },
  );
  const cited = prompt.cited.filter(({ chunk }) => stored.has(chunk));
  return { tokens: encoded?.tokens ?? 0, parts: new Set(cited.map(({ part }) => part)) };
}

interface Made {
  turn: TurnResult;
  answer: AnswerText;
  storedNow: StoredNow;
  thoughtTokens: number;
}

function resultOf(
  asked: Asked,
  { request, name, model, planner }: TurnParts,
  { turn, answer, storedNow, thoughtTokens }: Made,
): CompletionResult {
  const { prompt } = asked;
  const { text, thought, stoppedBy } = answer;
  // Counts in a server's prompt have units that mean nothing to others: the server reports tokens itself, or none are reported.
  const { usage: told } = turn;
  const tokens = told ? (told.answerTokens ?? 0) : answer.tokens;
  const titles = foundIn(prompt).map(({ chunk: { passage } }) => `${passage.title} ${passage.path}`);
  const unsupported =
    request.grammar === undefined ? unsupportedIn(text, prompt, model, { titles }) : undefined;
  const stats = {
    ...answerStats({ prompt, turn, name, model }, planner.costs),
    answerTokens: tokens,
    unsupported,
  };
  const said = { text, thought, stop: turn.stop, stats };
  return {
    model: request.model,
    fingerprint: model.info.fingerprint,
    text,
    thought,
    finish: stoppedBy !== undefined || turn.stop === 'eos' || turn.stop === 'repetition' ? 'stop' : 'length',
    stoppedBy,
    logprobs: request.logprobs === undefined ? undefined : answer.logprobs,
    usage: {
      ...promptUsage(prompt, turn, storedNow),
      ...(told && { promptTokens: told.promptTokens ?? 0, cachedTokens: told.cachedTokens ?? 0 }),
      completionTokens: tokens,
      thoughtTokens: Math.min(tokens, thoughtTokens),
    },
    made: {
      stats,
      plan: turn.plan,
      notices: [...noticesOf(asked, turn), ...endingNotices(said), ...unsupportedNotice(text, unsupported)],
    },
    citations: asked.library ? citationsIn(asked, turn, text) : [],
  };
}

function promptUsage(
  { tokens }: Pick<Prompt<AskedChunk>, 'tokens'>,
  blended: BlendedPrompt,
  storedNow: StoredNow,
): PromptUsage {
  const cached = cachedTokens(blended, storedNow.parts);
  return { promptTokens: tokens, cachedTokens: cached, storedTokens: storedNow.tokens };
}

/** What a reader must know before trusting the answer. */
function noticesOf({ prompt, choices, library }: Asked, turn: TurnResult): Notice[] {
  const { contextTokens } = choices;
  const plain = prompt.plainBecause;
  const ofPrompt: Notice[] = library
    ? promptNotices(prompt, { contextTokens, name: ({ label }) => label, unready: library.unready })
    : plain === undefined
      ? []
      : [{ kind: 'plain-prompt', message: plain }];
  return [
    ...ofPrompt,
    ...(library ? unreadyNotice(library.unready) : []),
    ...fallbackNotice(turn.decision),
    ...quarantineNotice(turn.blended.quarantined.length),
    ...lostNotice(turn.blended.lost.length),
  ];
}

function citationsIn({ prompt, library }: Asked, { tiers }: TurnResult, text: string): Citation[] {
  return citationsOf({ cited: foundIn(prompt) }, tiers, { question: library?.question ?? '', text });
}

function marksFor({ prompt, library }: Asked): CitationMarks | undefined {
  if (!library) return undefined;
  const passages = foundIn(prompt).map(({ chunk }) => chunk.passage.text);
  return new CitationMarks(passages, library.question);
}

function foundIn({ cited }: Prompt<AskedChunk>): { chunk: FoundPassage; part: number }[] {
  return cited.flatMap(({ chunk, part }) => (isFound(chunk) ? [{ chunk, part }] : []));
}

function isFound(chunk: AskedChunk): chunk is AskedChunk & FoundPassage {
  return chunk.passage !== undefined;
}
