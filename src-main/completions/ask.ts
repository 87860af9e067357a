import { KvasirError } from '../../src-shared/errors.ts';
import type { TextKind } from '../../src-shared/contract/calibration.ts';
import type { Scope } from '../../src-shared/contract/search.ts';
import type { Settings } from '../../src-shared/settings.ts';
import { withoutFilters } from '../../src-shared/search-filters.ts';
import type { AnswerMaker } from '../answering/answer.ts';
import type { Ask } from '../answering/ask.ts';
import type { NamedModel } from '../answering/named-model.ts';
import { answerReserve, choicesOf, type AnswerChoices } from '../answering/choices.ts';
import type { PastQuestion } from '../answering/context/follow-up.ts';
import { backendOf } from '../answering/backends/backend-of.ts';
import type { Passages, PromptChunk } from '../answering/passages.ts';
import type { Message, Prompt } from '../answering/prompt.ts';
import type { Stopwatch } from '../answering/stopwatch.ts';
import type { ToolRequest } from '../answering/tools.ts';
import { QUESTION_MARK } from '../answering/template.ts';
import type { WaitingPrompts } from '../answering/waiting-prompts.ts';
import type { TokensWithLead } from '../fusion/model.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { NamedLibrary } from './names.ts';
import { grammarFor } from '../answering/tools/tool-answers.ts';
import type { CompletionMessage, CompletionRequest, CompletionText } from './types.ts';

/** What a request asks; how it is made is added. */
type RequestAsk = Pick<
  Ask,
  | 'messages'
  | 'form'
  | 'reserve'
  | 'question'
  | 'choices'
  | 'mayGuess'
  | 'chosen'
  | 'unready'
  | 'raw'
  | 'filter'
  | 'json'
  | 'tools'
>;

interface Context extends NamedModel {
  settings: Settings;
  planner: Planner;
}

interface LibraryContext extends Context {
  maker: Pick<AnswerMaker, 'choose' | 'compute'>;
  stopwatch: Stopwatch;
  passages: Pick<Passages, 'unready'>;
  signal: AbortSignal;
}

/** A client's messages or text, unchanged. BAD_ARGUMENT for tools that the model cannot call. */
export function askModel(request: CompletionRequest, context: Context): RequestAsk {
  const { prompt, json, tools } = request;
  const choices = choicesFor(request, context, Infinity, 'client');
  return {
    ...clientPrompt(prompt),
    // Chunks that a client marks are stored regardless of the setting for library passages; the model receives only what the client sent.
    choices: { ...heldTo(tools, choices, context), storeMisses: true },
    question: '',
    mayGuess: true,
    raw: 'text' in prompt || (json !== undefined && !tools),
    json,
    filter: filterOf(request),
    tools,
  };
}

/** The messages of a client's prompt, which leaves room for one token at least. BAD_ARGUMENT for a result without its call. */
export function clientPrompt(
  prompt: CompletionRequest['prompt'],
): Pick<Ask, 'messages' | 'form' | 'reserve'> {
  const isText = 'text' in prompt;
  const messages = isText ? [{ role: 'user' as const, parts: prompt.text }] : prompt.messages;
  requireCalls(messages);
  return { messages: messages.map(messageOf), form: isText ? 'text' : 'messages', reserve: 1 };
}

/**
 * The last user message is the question, and its passages precede it, as in the window. BAD_ARGUMENT without a question, and for tools that
 * the model cannot call. ABORTED.
 */
export async function askLibrary(
  request: CompletionRequest,
  library: NamedLibrary,
  context: LibraryContext,
): Promise<RequestAsk> {
  const { settings, maker, passages, stopwatch, signal, name, model } = context;
  const { tools } = request;
  const { question, earlier, before, after } = questionOf(request);
  const choices = heldTo(tools, choicesFor(request, context, settings.maxTokens), context);
  const scope = scopeOf(library);
  const { systemPrompt, contextTokens } = choices;
  const messages = ledBy(systemPrompt, before.map(messageOf));
  const reserve = answerReserve(choices);
  const withPassages = (found: readonly PromptChunk[]): Message[] => [
    ...messages,
    { role: 'user', pieces: [...found, QUESTION_MARK + withoutFilters(question)] },
    ...after.map(messageOf),
  ];
  const { think } = choices;
  const form = 'messages';
  const layOut = (found: readonly PromptChunk[]): Prompt =>
    backendOf(model).layOut({ messages: withPassages(found), form, reserve, think, contextTokens, tools });
  const asked = { name, model, choices, stopwatch, signal };
  const chosen = await maker.choose({ ...asked, question, earlier, scope, layOut }, asked);
  const found = await maker.compute(chosen.passages, { ...asked, question: chosen.search });
  return {
    messages: withPassages(found),
    form,
    reserve,
    question: withoutFilters(question),
    choices,
    mayGuess: request.mayGuess ?? true,
    chosen: chosen.notices,
    unready: passages.unready(scope, chosen.search),
    raw: request.json !== undefined && !tools,
    json: request.json,
    filter: filterOf(request),
    tools,
  };
}

/**
 * The chunks that a request most likely places, without its turn: those that its client marks, or the passages that contain the words of a
 * question for a library. The errors of a request that cannot be answered.
 */
export async function likelyChunks(
  request: CompletionRequest,
  library: NamedLibrary | undefined,
  { search, ...context }: Context & { search: WaitingPrompts['search'] },
): Promise<readonly TokensWithLead[]> {
  const asked = library ? undefined : askModel(request, context);
  const { strategy, topK, think, contextTokens } =
    asked?.choices ?? choicesFor(request, context, context.settings.maxTokens);
  if (strategy.kind === 'full') return [];
  if (library) return search(questionOf(request).question, { scope: scopeOf(library), topK });
  const { tools } = request;
  const { cited } = backendOf(context.model).layOut({
    ...clientPrompt(request.prompt),
    think,
    contextTokens,
    tools,
  });
  return cited.map(({ chunk }) => chunk);
}

function scopeOf({ id }: NamedLibrary): Scope {
  return { libraryIds: [id], documentIds: [] };
}

/** Choices whose sampling keeps to the tools: an answer that may call follows a grammar. BAD_ARGUMENT. */
function heldTo(tools: ToolRequest | undefined, choices: AnswerChoices, model: NamedModel): AnswerChoices {
  if (!tools) return choices;
  const { sampling, think } = choices;
  const grammar = grammarFor(tools, model, { answer: sampling.grammar, think });
  return {
    ...choices,
    sampling: { ...sampling, ...(grammar !== undefined && { grammar, repeatPenalty: 1 }) },
  };
}

/** Kvasir's instructions before the messages: prepended to the client's system message, since templates accept only one. */
function ledBy(systemPrompt: string, messages: Message[]): Message[] {
  const [first, ...others] = messages;
  if (systemPrompt === '') return messages;
  if (first?.role !== 'system') return [{ role: 'system', pieces: [systemPrompt] }, ...messages];
  return [{ role: 'system', pieces: [`${systemPrompt}\n\n`, ...first.pieces] }, ...others];
}

/** `maxTokens`: used when the request sets no limit. */
function choicesFor(
  request: CompletionRequest,
  { settings, model, planner }: Context,
  maxTokens: number,
  textKind?: TextKind,
): AnswerChoices {
  const { strategy, topK, temperature, think, topP, topTokens, minP, repeatPenalty } = request;
  const { seed, logprobs, json } = request;
  const filtered = (topP ?? topTokens ?? minP) !== undefined;
  const asked = { strategy, topK, temperature, think, textKind, maxTokens: request.maxTokens ?? maxTokens };
  const choices = choicesOf(asked, settings, model, planner);
  const sampling = {
    ...choices.sampling,
    ...(seed !== undefined && { seed: unsigned(seed) }),
    ...(filtered && { topP: topP ?? 1, topK: topTokens ?? 0, minP: minP ?? 0 }),
    ...(logprobs !== undefined && { chances: logprobs }),
    // An answer that continues raw text or follows a grammar may have to repeat itself.
    ...((json !== undefined || 'text' in request.prompt) && { repeatPenalty: 1 }),
    ...(repeatPenalty !== undefined && { repeatPenalty }),
    ...(json && { grammar: json.grammar }),
  };
  return { ...choices, sampling };
}

/** The engine's seeds have 32 bits. */
function unsigned(seed: number): number {
  return Number(BigInt.asUintN(32, BigInt(seed)));
}

/** The first sampling filter that has an effect, besides top-p, which all models have. */
function filterOf({ topTokens = 0, minP = 0, repeatPenalty = 1 }: CompletionRequest): string | undefined {
  if (topTokens > 0) return 'top_k';
  if (minP > 0) return 'min_p';
  return repeatPenalty === 1 ? undefined : 'repeat_penalty';
}

/** A client's message, with the chunks that it marks. */
function messageOf({ role, parts, calls, callId }: CompletionMessage): Message {
  const pieces = parts.map(({ text, cache, title = 'text of a client' }, position) =>
    cache === true && text !== '' ? { text, title, position } : text,
  );
  // An answer that only calls has no text.
  return { role, pieces: calls ? pieces.filter((piece) => piece !== '') : pieces, calls, callId };
}

function questionOf({ prompt }: CompletionRequest): {
  question: string;
  earlier: PastQuestion[];
  before: readonly CompletionMessage[];
  after: readonly CompletionMessage[];
} {
  const messages: readonly CompletionMessage[] =
    'text' in prompt ? [{ role: 'user', parts: prompt.text }] : prompt.messages;
  requireCalls(messages);
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const question = textOf(messages[at]?.parts ?? []).trim();
  const after = messages.slice(at + 1);
  const isOpen = after.every(({ calls, callId }) => calls ?? callId) && after.at(-1)?.role !== 'assistant';
  if (question === '' || !isOpen) throw new KvasirError('BAD_ARGUMENT', NO_QUESTION);
  const before = messages.slice(0, Math.max(0, at));
  const earlier = before.flatMap(({ role, parts }, i): PastQuestion[] => {
    const answer = before[i + 1];
    if (role !== 'user') return [];
    return [{ question: textOf(parts), text: answer?.role === 'assistant' ? textOf(answer.parts) : '' }];
  });
  return { question, earlier, before, after };
}

const NO_QUESTION =
  'The last message must have the role “user”, or “tool” where it is the result of a call after a question.';

/** BAD_ARGUMENT for the result of a tool that no message before it called. */
function requireCalls(messages: readonly CompletionMessage[]): void {
  const called = new Set<string>();
  for (const { calls = [], callId } of messages) {
    for (const { id } of calls) called.add(id);
    if (callId === undefined || called.has(callId)) continue;
    const message =
      callId === ''
        ? 'A tool result has no call before it.'
        : `A tool result is for the call ${JSON.stringify(callId)}, but no message before it has that call.`;
    const advice = 'Send the answer that called the tool before the result, with the same id.';
    throw new KvasirError('BAD_ARGUMENT', message, advice);
  }
}

function textOf(parts: readonly CompletionText[]): string {
  return parts.map(({ text }) => text).join('');
}
