import type { DocumentShare } from '../../../../src-shared/contract/context.ts';
import type { z } from '@hono/zod-openapi';
import type { TokenLogprobs } from '../../../answering/backends/backend.ts';
import type {
  CompletionMessage,
  CompletionRequest,
  CompletionResult,
  CompletionText,
} from '../../../completions/types.ts';
import type { CitedSentence } from '../../../../src-shared/contract/chat.ts';
import { KvasirError } from '../../../../src-shared/errors.ts';
import type { ToolCall } from '../../../answering/tools.ts';
import {
  ANY_OBJECT,
  jsonGrammar,
  type JsonFormat,
  type JsonSchema,
} from '../../../answering/json-grammar.ts';
import { Refusal } from '../errors.ts';
import { isLibraryName } from '../../../completions/names.ts';
import type { CallSchema } from './tools.ts';
import type { CitationSchema, HowMadeSchema, UsageSchema, WRITING } from './schemas.ts';

type Citation = z.infer<typeof CitationSchema>;
type WritingFields = z.infer<z.ZodObject<typeof WRITING>>;
type KvasirFields = Pick<CompletionRequest, 'strategy' | 'topK' | 'mayGuess'>;

/** Kvasir's extensions in a request. Passages are only retrieved from libraries. */
export function ownOf({ model, kvasir }: Pick<WritingFields, 'kvasir'> & { model: string }): KvasirFields {
  const { strategy, top_k: topK, may_guess: mayGuess } = kvasir ?? {};
  const named = topK !== undefined ? 'top_k' : mayGuess !== undefined ? 'may_guess' : undefined;
  if (named !== undefined && !isLibraryName(model)) {
    const param = `kvasir.${named}`;
    const message = `${param} is for libraries (kvasir/<name>): a model is asked with what is sent.`;
    throw new Refusal(400, message, { param, code: 'unsupported_parameter' });
  }
  return { strategy, topK, mayGuess };
}

/** Converts a request's fields to the core's request. */
export function writingOf(
  body: Omit<WritingFields, 'n' | 'tools' | 'tool_choice'> & { model: string },
): Omit<CompletionRequest, 'model' | 'prompt' | 'maxTokens' | 'logprobs' | 'json' | 'tools' | 'think'> {
  const { seed, stop } = body;
  const stops = typeof stop === 'string' ? [stop] : (stop ?? []);
  return {
    ...samplingOf(body),
    seed: seed === -1 ? undefined : (seed ?? undefined),
    stop: stops.filter((text) => text !== ''),
    ...ownOf(body),
  };
}

type Filters = Pick<
  WritingFields,
  'temperature' | 'top_p' | 'top_k' | 'min_p' | 'repeat_penalty' | 'repetition_penalty'
>;

export function samplingOf({
  temperature,
  top_p,
  top_k,
  min_p,
  repeat_penalty,
  repetition_penalty,
}: Filters): Pick<CompletionRequest, 'temperature' | 'topP' | 'topTokens' | 'minP' | 'repeatPenalty'> {
  return {
    temperature: temperature ?? undefined,
    topP: top_p ?? undefined,
    topTokens: top_k === -1 ? 0 : (top_k ?? undefined),
    minP: min_p ?? undefined,
    repeatPenalty: repeat_penalty ?? repetition_penalty ?? undefined,
  };
}

type Limit = number | null | undefined;

/** The limits of an answer, under all names that clients use. */
export function limitsIn({
  max_tokens,
  n_predict,
  num_predict,
}: Pick<WritingFields, 'max_tokens' | 'n_predict' | 'num_predict'>): Limit[] {
  return [max_tokens, n_predict, num_predict];
}

/** The first limit given; undefined: none, or negative, which means as many tokens as fit. */
export function limitOf(...limits: Limit[]): number | undefined {
  const limit = limits.find((each) => typeof each === 'number') ?? -1;
  return limit < 0 ? undefined : limit;
}

/** A client's content as text and chunks. */
export function textsOf(
  content: string | readonly CompletionText[],
  separator: string | undefined,
): CompletionText[] {
  const parts: readonly CompletionText[] = typeof content === 'string' ? [{ text: content }] : content;
  return parts.flatMap((part) =>
    separator !== undefined && part.cache === undefined ? cutAt(separator, part.text) : [part],
  );
}

/**
 * Splits a client's text at a separator: the text between two separators is a chunk; the text before the first and after the last is plain
 * text. The separators are not put into the prompt.
 */
export function cutAt(separator: string, text: string): CompletionText[] {
  const pieces = text.split(separator);
  return pieces
    .map((piece, i) => ({ text: piece, cache: i > 0 && i < pieces.length - 1 }))
    .filter((piece) => piece.text !== '');
}

/** The JSON that a request's format asks for; undefined for text. */
export function jsonOf(
  { type, schema }: { type: string; schema?: JsonSchema },
  param: string,
): JsonFormat | undefined {
  if (type === 'text') return undefined;
  try {
    return { grammar: schema === undefined ? ANY_OBJECT : jsonGrammar(schema), schema };
  } catch (error) {
    if (!(error instanceof KvasirError)) throw error;
    throw new Refusal(400, error.message, { param, code: 'unsupported_schema' });
  }
}

/** Whether a reasoning effort means to think at all. */
export function thinkOf(effort: string | null | undefined): boolean | undefined {
  return effort ? effort !== 'none' && effort !== 'minimal' : undefined;
}

interface SentMessage {
  role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  content?: string | readonly CompletionText[] | undefined;
  refusal?: string | null | undefined;
  tool_calls?: readonly z.infer<typeof CallSchema>[] | null | undefined;
  tool_call_id?: string | undefined;
  tool_name?: string | undefined;
}

/** A result without an id is that of the first call, of its tool where it names one, that has none yet; '' if there is none. */
export function messagesOf(
  messages: readonly SentMessage[],
  separator: string | undefined,
): CompletionMessage[] {
  const open: ToolCall[] = [];
  const answered = ({ tool_call_id: id, tool_name: tool }: SentMessage): string => {
    const at = open.findIndex((call) =>
      id === undefined ? (tool ?? call.name) === call.name : id === call.id,
    );
    const [call] = at < 0 ? [] : open.splice(at, 1);
    return id ?? call?.id ?? '';
  };
  return messages.map((message) => {
    const { role, content, refusal } = message;
    const calls = (message.tool_calls ?? []).map(({ id, function: called }) => ({ id, ...called }));
    open.push(...calls);
    return {
      role: role === 'developer' ? 'system' : role,
      parts: textsOf(content ?? refusal ?? '', separator),
      ...(calls.length > 0 && { calls }),
      ...(role === 'tool' && { callId: answered(message) }),
    };
  });
}

export function usageOf({ usage, made }: CompletionResult): z.infer<typeof UsageSchema> {
  const { promptTokens, completionTokens, cachedTokens, storedTokens, thoughtTokens } = usage;
  const { drafts } = made.stats;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: storedTokens },
    completion_tokens_details: {
      reasoning_tokens: thoughtTokens,
      ...(drafts && {
        accepted_prediction_tokens: drafts.accepted,
        rejected_prediction_tokens: drafts.drafted - drafts.accepted,
      }),
    },
  };
}

export function howMade({ made, usage }: CompletionResult): z.infer<typeof HowMadeSchema> {
  const { stats, plan, notices } = made;
  return {
    strategy: { name: stats.strategy.name, ratio: stats.strategy.ratio },
    reason: plan?.reason ?? 'asked',
    prefix_tokens: stats.prefixTokens,
    reused_tokens: stats.reusedTokens,
    recomputed_tokens: stats.recomputedTokens,
    computed_tokens: stats.computedTokens,
    stored_tokens: usage.storedTokens,
    chunks: stats.chunkHits,
    ttft_ms: stats.ttftMs,
    tokens_per_second: stats.tokensPerSecond,
    notices,
    ...(stats.documents && stats.documents.length > 0 && { documents: stats.documents.map(shareTold) }),
    ...(stats.unsupported && { unsupported: stats.unsupported }),
    ...(stats.sentences && { own: ownSentences(stats.sentences) }),
  };
}

function ownSentences(sentences: readonly CitedSentence[]): { start: number; end: number }[] {
  return sentences.flatMap(({ start, end, sources }) => (sources.length === 0 ? [{ start, end }] : []));
}

function shareTold({ path, readTokens, tokens }: DocumentShare) {
  return { document: path, read_tokens: readTokens, tokens };
}

/** Only for a library's answer; others have none. */
export function citationsOf({ citations }: CompletionResult): { citations?: Citation[] } {
  if (citations.length === 0) return {};
  const told = citations.map(({ path, title, page, start, end, text, highlights, score }, i) => ({
    index: i + 1,
    document: path,
    title,
    page,
    start,
    end,
    text,
    quotes: highlights,
    score,
  }));
  return { citations: told };
}

/** JSON has no infinity: the value that OpenAI uses for such tokens. */
const LEAST_LOGPROB = -9999;

export function logprobTold({ text, logprob }: { text: string; logprob: number }) {
  return { token: text, logprob: Math.max(LEAST_LOGPROB, logprob), bytes: bytesOf(text) };
}

export function logprobsTold(logprobs: readonly TokenLogprobs[]) {
  return logprobs.map((each) => ({ ...logprobTold(each), top_logprobs: each.top.map(logprobTold) }));
}

/** null for a token that is part of a character: its bytes are not text. */
function bytesOf(text: string): number[] | null {
  return text.includes('\uFFFD') ? null : [...new TextEncoder().encode(text)];
}
