import type { AnswerStats, Citation, CitedSentence } from '../../src-shared/contract/chat.ts';
import type { Notice } from '../../src-shared/answer.ts';
import type { FusionPlan } from '../../src-shared/plan.ts';
import type { StrategyRequest } from '../../src-shared/strategy.ts';
import type { JsonFormat } from '../answering/json-grammar.ts';
import type { PromptUsage, TokenLogprobs } from '../answering/backends/backend.ts';
import type { MessageCalls, Role } from '../answering/template-messages.ts';
import type { ToolCall, ToolCallDelta, ToolRequest } from '../answering/tools.ts';

/** A piece of a message. */
export interface CompletionText {
  text: string;
  /** Encoded separately and stored, so that it is reused in every later prompt. */
  cache?: boolean | undefined;
  /** Its label in lists of stored chunks. */
  title?: string | undefined;
}

export interface CompletionMessage extends MessageCalls {
  role: Role;
  parts: readonly CompletionText[];
}

/** A request to a model, independent of the wire format. */
export interface CompletionRequest {
  /** A model by its name in the list, or `kvasir/<library>`. */
  model: string;
  /** Messages for the model's chat template, or raw text to continue. */
  prompt: { messages: readonly CompletionMessage[] } | { text: readonly CompletionText[] };
  /**
   * Maximum number of generated tokens; absent: as many as fit the context, and for a library as many as the settings say. 0: the prompt is
   * processed and its chunks are stored for later requests.
   */
  maxTokens?: number | undefined;
  /** Absent: the setting. 0: the most likely token every time. */
  temperature?: number | undefined;
  /** Sampling filters. All absent: those of the window's answers. Any set: only those. */
  topP?: number | undefined;
  /** Sample from this many most likely tokens; 0: from all. */
  topTokens?: number | undefined;
  minP?: number | undefined;
  /** 1: none. Absent: as for the window's answers. */
  repeatPenalty?: number | undefined;
  seed?: number | undefined;
  /** Texts that end the answer; they are not part of it. */
  stop?: readonly string[] | undefined;
  /** Number of most likely tokens whose log probabilities are returned with each answer token's. Absent: none. */
  logprobs?: number | undefined;
  /** Absent: the answer is text. */
  json?: JsonFormat | undefined;
  /** Absent: the answer calls no tools. */
  tools?: ToolRequest | undefined;
  /** Whether to think before answering, where the template offers the choice. Absent: the setting. */
  think?: boolean | undefined;
  /** Absent: the setting. */
  strategy?: StrategyRequest | undefined;
  /** For a library: maximum number of passages in the prompt, and whether to ask the model even if no passage was found. */
  topK?: number | undefined;
  mayGuess?: boolean | undefined;
}

/** More of an answer. */
export interface CompletionDelta {
  text: string;
  /** In a library's answer, the sentences that ended in it, and the passages in the prompt. */
  cited?: { sentences: readonly CitedSentence[]; passages: readonly Citation[] } | undefined;
  /** Of the tokens that brought it; absent unless requested. */
  logprobs?: TokenLogprobs[] | undefined;
}

export interface CompletionRun {
  signal: AbortSignal;
  /** Called when the request gets the model and waits no more. */
  onBegin?: (() => void) | undefined;
  /** Called once the prompt has been processed, before the first token. Not called for a remote model, which reports counts at the end. */
  onPrompt?: ((usage: PromptUsage) => void) | undefined;
  onDelta?: ((delta: CompletionDelta) => void) | undefined;
  onCall?: ((delta: ToolCallDelta) => void) | undefined;
  /** More thinking text before the answer. */
  onThought?: ((text: string) => void) | undefined;
}

/** Token counts of a finished request. */
interface CompletionUsage extends PromptUsage {
  completionTokens: number;
  /** Of these, thinking tokens. */
  thoughtTokens: number;
}

/** How an answer was made. */
interface AnswerDetails {
  stats: AnswerStats;
  /** Absent for a model on a server. */
  plan: FusionPlan | undefined;
  notices: Notice[];
}

/** Why an answer ended: at its natural end or a stop text, at the limit of tokens or of the context, or to get results of its calls. */
type FinishReason = 'stop' | 'length' | 'tool_calls';

export interface CompletionResult {
  /** The model's name, or the library's as requested. */
  model: string;
  /** Identifies the weights that answered. */
  fingerprint: string;
  text: string;
  calls: ToolCall[];
  thought: string;
  finish: FinishReason;
  /** The stop text that ended it. */
  stoppedBy: string | undefined;
  logprobs: TokenLogprobs[] | undefined;
  usage: CompletionUsage;
  made: AnswerDetails;
  /** For a library's answer: the passages in its prompt. Marks in the text, such as [2], refer to them, counted from 1. */
  citations: Citation[];
}
