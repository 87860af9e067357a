import { KvasirError } from '../../src-shared/errors.ts';
import type { TextKind } from '../../src-shared/contract/calibration.ts';
import type { Settings } from '../../src-shared/settings.ts';
import type { AnswerMaker } from '../answering/answer.ts';
import { choicesOf, type AnswerChoices } from '../answering/choices.ts';
import { searchText } from '../answering/follow-up.ts';
import { answerReserve } from '../answering/limits.ts';
import { nothingMatches, requireRead } from '../answering/notices.ts';
import type { FoundPassage, Passages, Unready } from '../answering/passages.ts';
import { fit, type Prompt } from '../answering/prompt.ts';
import { QUESTION_MARK } from '../answering/template.ts';
import { isRemote, type FusionModel } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import { layOutMessages, layOutText, piecesOf, type LabelledChunk, type LaidMessage } from './layout.ts';
import type { NamedLibrary } from './names.ts';
import type { CompletionMessage, CompletionRequest, CompletionText } from './types.ts';

/** A request in the form that the model receives. */
export interface Asked {
  choices: AnswerChoices;
  prompt: Prompt<AskedChunk>;
  /** For a library: the question, and its documents that are not ready. */
  library?: { question: string; unready: Unready } | undefined;
}

/** A client's text, or a passage of a library. */
export type AskedChunk = LabelledChunk &
  Partial<Pick<FoundPassage, 'passage' | 'page' | 'reason' | 'highlights'>>;

interface Context {
  model: FusionModel;
  settings: Settings;
  planner: Planner;
}

interface LibraryContext extends Context {
  maker: Pick<AnswerMaker, 'find'>;
  passages: Pick<Passages, 'unready'>;
  signal: AbortSignal;
}

/** A client's messages or text, unchanged. CONTEXT_OVERFLOW, BAD_ARGUMENT for options that the model does not support. */
export function askModel(request: CompletionRequest, context: Context): Asked {
  const { model } = context;
  const { prompt } = request;
  if ('text' in prompt && isRemote(model)) throw onlyMessages();
  // Chunks that a client marks are stored regardless of the setting for library passages; the model receives only what the client sent.
  const choices = { ...choicesFor(request, context, Infinity, 'client'), storeMisses: true };
  const laidOut =
    'text' in prompt
      ? layOutText(model, piecesOf(model, prompt.text))
      : layOutMessages(model, prompt.messages.map(laid(model)), choices);
  if (laidOut.tokens >= choices.contextTokens) throw tooLong(model, laidOut.tokens, choices);
  return { choices, prompt: laidOut };
}

/**
 * The last user message is the question, and its passages precede it, as in the window. BAD_ARGUMENT without a question, NO_MATCH,
 * CONTEXT_OVERFLOW, ABORTED.
 */
export async function askLibrary(
  request: CompletionRequest,
  library: NamedLibrary,
  context: LibraryContext,
): Promise<Asked> {
  const { model, settings, maker, passages, signal } = context;
  const { question, previous, before } = questionOf(request);
  const choices = choicesFor(request, context, settings.maxTokens);
  const scope = { libraryIds: [library.id], documentIds: [] };
  const search = searchText(question, previous);
  const found = await maker.find(search, { scope, topK: choices.topK, signal });
  const unready = passages.unready(scope, search);
  if (request.mayGuess !== true) requireRead(unready, question, found);
  if (found.length === 0 && request.mayGuess !== true) throw nothingMatches(unready, question);
  const led = ledBy(choices.systemPrompt, before.map(laid(model)));
  const layOut = (chunks: readonly AskedChunk[]): Prompt<AskedChunk> => {
    const asked: LaidMessage<AskedChunk> = { role: 'user', pieces: [...chunks, QUESTION_MARK + question] };
    return layOutMessages(model, [...led, asked], choices);
  };
  const { contextTokens, maxTokens } = choices;
  const room = contextTokens - answerReserve({ contextTokens, answerTokens: maxTokens });
  const bare = layOut([]).tokens;
  if (bare > room) throw tooLong(model, bare, choices);
  const offered = found.map((passage) => ({ ...passage, label: passage.passage.path }));
  const { kept, leftOut } = fit(offered, room - bare);
  return { choices, prompt: { ...layOut(kept), leftOut }, library: { question, unready } };
}

/** Kvasir's instructions before the messages: prepended to the client's system message, since templates accept only one. */
function ledBy(systemPrompt: string, messages: LaidMessage<AskedChunk>[]): LaidMessage<AskedChunk>[] {
  const [first, ...others] = messages;
  if (systemPrompt === '') return messages;
  if (first?.role !== 'system') return [{ role: 'system', pieces: [systemPrompt] }, ...messages];
  return [{ role: 'system', pieces: [`${systemPrompt}\n\n`, ...first.pieces] }, ...others];
}

/** `maxTokens`: used when the request sets no limit. */
function choicesFor(
  request: CompletionRequest,
  context: Context,
  maxTokens: number,
  textKind?: TextKind,
): AnswerChoices {
  const { settings, model, planner } = context;
  if (isRemote(model)) requireDoneThere(request);
  const { strategy, topK, temperature, think, topP, topTokens, minP, repeatPenalty } = request;
  const { seed, logprobs, grammar } = request;
  const filtered = (topP ?? topTokens ?? minP) !== undefined;
  const asked = { strategy, topK, temperature, think, textKind, maxTokens: request.maxTokens ?? maxTokens };
  const choices = choicesOf(asked, settings, model, planner);
  const sampling = {
    ...choices.sampling,
    ...(seed !== undefined && { seed: unsigned(seed) }),
    ...(filtered && { topP: topP ?? 1, topK: topTokens ?? 0, minP: minP ?? 0 }),
    ...(logprobs !== undefined && { chances: logprobs }),
    // An answer that continues raw text or follows a grammar may have to repeat itself.
    ...((grammar !== undefined || 'text' in request.prompt) && { repeatPenalty: 1 }),
    ...(repeatPenalty !== undefined && { repeatPenalty }),
    ...(grammar !== undefined && { grammar }),
  };
  return { ...choices, sampling };
}

/** The engine's seeds have 32 bits. */
function unsigned(seed: number): number {
  return Number(BigInt.asUintN(32, BigInt(seed)));
}

/** A client's message, with the chunks that it marks. */
export function laid(model: FusionModel): (message: CompletionMessage) => LaidMessage<AskedChunk> {
  return ({ role, parts }) => ({ role, pieces: piecesOf(model, parts) });
}

function questionOf({ prompt }: CompletionRequest): {
  question: string;
  previous: string | undefined;
  before: readonly CompletionMessage[];
} {
  const messages: readonly CompletionMessage[] =
    'text' in prompt ? [{ role: 'user', parts: prompt.text }] : prompt.messages;
  const last = messages.at(-1);
  const question = last?.role === 'user' ? textOf(last.parts).trim() : '';
  if (question === '') throw new KvasirError('BAD_ARGUMENT', 'The last message must have the role “user”.');
  const before = messages.slice(0, -1);
  const previous = before.findLast(({ role }) => role === 'user');
  return { question, previous: previous && textOf(previous.parts), before };
}

function textOf(parts: readonly CompletionText[]): string {
  return parts.map(({ text }) => text).join('');
}

/**
 * Rejects sampling filters that a server does not support; its session rejects everything else. A filter with a neutral value is omitted.
 */
function requireDoneThere({ maxTokens, topTokens, minP, repeatPenalty }: CompletionRequest): void {
  const name =
    (topTokens ?? 0) > 0
      ? 'top_k'
      : (minP ?? 0) > 0
        ? 'min_p'
        : (repeatPenalty ?? 1) === 1
          ? undefined
          : 'repeat_penalty';
  if (name !== undefined)
    throw new KvasirError(
      'BAD_ARGUMENT',
      `${name} is not supported for remote models.`,
      'Leave it out, or use top_p.',
    );
  if (maxTokens === 0)
    throw new KvasirError(
      'BAD_ARGUMENT',
      'Prompts for remote models are not cached, so there is no cache to fill.',
      'Request at least one token.',
    );
}

function onlyMessages(): KvasirError {
  return new KvasirError(
    'BAD_ARGUMENT',
    'Continuing raw text is not supported for remote models.',
    'Send messages to /v1/chat/completions instead.',
  );
}

/** `tokens` undefined: not all were counted. Counts for a remote model are not reported: its units are not the model's tokens. */
export function tooLong(
  model: FusionModel,
  tokens: number | undefined,
  { contextTokens }: Pick<AnswerChoices, 'contextTokens'>,
): KvasirError {
  const message = isRemote(model)
    ? 'The prompt exceeds the context of this remote model, and the answer needs room as well.'
    : `The prompt has ${tokens ?? 'many more'} tokens, but the context holds ${contextTokens}, and the answer needs room as well.`;
  return new KvasirError(
    'CONTEXT_OVERFLOW',
    message,
    'Send less text, or use a model with a larger context.',
  );
}
