import type { Notice } from '../../src-shared/answer.ts';
import type { Citation } from '../../src-shared/contract/chat.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { withoutFilters } from '../../src-shared/search-filters.ts';
import type { FusionModel } from '../fusion/model.ts';
import type { PromptPart } from '../fusion/blender.ts';
import { answerReserve, type AnswerChoices } from './choices.ts';
import type { JsonFormat } from './json-grammar.ts';
import type { NamedModel } from './named-model.ts';
import type { PromptChunk, UnreadyDocuments } from './passages.ts';
import type { Message, PromptRequest } from './prompt.ts';
import type { SessionTokens } from './session-tokens.ts';
import type { Stopwatch } from './stopwatch.ts';
import type { ToolCall } from './tools.ts';
import { QUESTION_MARK } from './template.ts';

/** An answer to continue: its tokens if a model here sampled them, else its text. */
interface BegunAnswer {
  /** Its passages, where they are in the prompt as text only. */
  citations?: readonly Citation[] | undefined;
  thought?: string | undefined;
  text: string;
  tokens?: Int32Array | undefined;
}

/** A request for one answer, whoever asks: a conversation, an analysis, another program, or the command line. */
export interface Ask extends NamedModel, Pick<PromptRequest, 'messages' | 'form' | 'reserve' | 'tools'> {
  /** What the passages were retrieved for; '' for a client's own messages, which are answered whatever they contain. */
  question: string;
  choices: AnswerChoices;
  /** Whether to ask the model even if no passage was found. */
  mayGuess: boolean;
  begun?: BegunAnswer | undefined;
  /**
   * Runs calls of `tools`, after which the answer goes on with their results, of at most `tokens` each; absent: calls end the answer.
   * ABORTED.
   */
  runCalls?: ((calls: readonly ToolCall[], tokens: number) => Promise<readonly string[]>) | undefined;
  /** How many turns of the conversation an earlier question dropped. */
  turnsLeftOut?: number | undefined;
  /** Notices on the choice of its passages. */
  chosen?: readonly Notice[] | undefined;
  /** Documents in scope that cannot be searched yet; the answer does not cover them. */
  unready?: UnreadyDocuments | undefined;
  /** The kind of request, for the eviction policy to learn from. */
  requestClass: string;
  /** The priority of its computation, as in AppendOptions. Default: a person's. */
  priority?: number | undefined;
  /** Whether the answer is text as sampled, which may repeat itself and has no thoughts: it continues text or follows a grammar. */
  raw?: boolean | undefined;
  /** Whether chunks that the store lacks are computed and stored before the prompt places them. */
  storesFirst?: boolean | undefined;
  /** The JSON that the answer must be; the grammar in `choices.sampling` is the same for a model here. */
  json?: JsonFormat | undefined;
  /** A sampling filter, by its name in requests, without which the request must not be answered. */
  filter?: string | undefined;
  /** Started when the question was asked. */
  stopwatch: Stopwatch;
  /** Milliseconds of that time already spent. */
  before: { wait?: number; retrieve: number };
  signal?: AbortSignal | undefined;
  /** The session to answer in, for a model that runs here; its owner disposes it. OUT_OF_MEMORY. */
  openSession: (wanted: WantedSession) => SessionTokens | Promise<SessionTokens>;
}

interface WantedSession {
  model: FusionModel;
  /** The whole prompt. */
  parts: readonly PromptPart[];
  /** Tokens of prompt and answer at most. */
  need: number;
}

/** An answered turn of a conversation. */
export interface PastTurn {
  question: string;
  /** The passages placed in this turn. */
  chunks: readonly PromptChunk[];
  text: string;
  /** As the model in use would have sampled it. */
  answer: Int32Array;
  /** Whether the answer followed a thought, which is dropped. */
  thought?: boolean | undefined;
}

/** A question after earlier turns, each question behind its passages. */
export function conversation(
  question: string,
  passages: readonly PromptChunk[],
  {
    systemPrompt,
    think,
    contextTokens,
    maxTokens,
    tools,
  }: Pick<AnswerChoices, 'systemPrompt' | 'think' | 'contextTokens' | 'maxTokens' | 'tools'>,
  history: readonly PastTurn[] = [],
): PromptRequest {
  const ask = (text: string, chunks: readonly PromptChunk[]): Message => {
    return { role: 'user', pieces: [...chunks, QUESTION_MARK + withoutFilters(text)] };
  };
  const system: Message = { role: 'system', pieces: [systemPrompt], isRead: true };
  const earlier = history.flatMap(({ question: asked, chunks, text, answer: tokens, thought = false }) => [
    ask(asked, chunks),
    { role: 'assistant', pieces: [text], answer: { tokens, thought } } as const,
  ]);
  return {
    messages: [...(systemPrompt.trim() === '' ? [] : [system]), ...earlier, ask(question, passages)],
    think,
    form: 'conversation',
    tools,
    contextTokens,
    reserve: answerReserve({ contextTokens, maxTokens }),
  };
}

/** CONFLICT when an answer cannot follow a prompt of this many tokens. */
export function requireRoom(tokens: number, { choices: { contextTokens } }: Ask): void {
  if (tokens < contextTokens) return;
  const message = 'This answer cannot be continued: the context is full.';
  const advice = 'Allow a larger context in Settings, or ask for the rest in a new conversation.';
  throw new KvasirError('CONFLICT', message, advice);
}
