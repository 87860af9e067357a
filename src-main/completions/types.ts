import type { AnswerStats, Citation } from '../../src-shared/contract/chat.ts';
import type { Notice } from '../../src-shared/answer.ts';
import type { FusionPlan } from '../../src-shared/plan.ts';
import type { StrategyRequest } from '../../src-shared/strategy.ts';
import type { Role } from '../answering/template.ts';

/** A piece of a message. */
export interface CompletionText {
  text: string;
  /** Encoded by itself and stored, so that it is reused wherever it stands from then on. */
  cache?: boolean | undefined;
  /** What lists of stored chunks call it. */
  title?: string | undefined;
}

export interface CompletionMessage {
  role: Role;
  parts: readonly CompletionText[];
}

/** What a model is asked, whatever wire it came over. */
export interface CompletionRequest {
  /** A model by its name in the list, or `kvasir/<library>`. */
  model: string;
  /** Messages for the model's chat template, or text that is gone on with as it is. */
  prompt: { messages: readonly CompletionMessage[] } | { text: readonly CompletionText[] };
  /**
   * Tokens written at most; absent: as many as fit the context, and of a library as many as the settings say. 0: the prompt is processed,
   * and its chunks are stored, for those that follow.
   */
  maxTokens?: number | undefined;
  /** Absent: the settings' choice. 0: the likeliest token every time. */
  temperature?: number | undefined;
  /** Filters. All absent: those that the window's answers have. Any set: those that are set alone. */
  topP?: number | undefined;
  /** Sampled from this many likeliest tokens; 0: from all. */
  topTokens?: number | undefined;
  minP?: number | undefined;
  /** 1: none. Absent: as the window's answers have it. */
  repeatPenalty?: number | undefined;
  seed?: number | undefined;
  /** Texts that end the answer, which does not have them. */
  stop?: readonly string[] | undefined;
  /** For each token of the answer its log probability, and those of so many likeliest ones. Absent: none. */
  logprobs?: number | undefined;
  /** In GBNF: what may be written. */
  grammar?: string | undefined;
  /** Whether the model thinks before it answers, where its template leaves the choice. Absent: the settings' choice. */
  think?: boolean | undefined;
  /** Absent: the settings' choice. */
  strategy?: StrategyRequest | undefined;
  /** Of a library: passages in the prompt at most, and whether the model is asked where none was found. */
  topK?: number | undefined;
  mayGuess?: boolean | undefined;
}

interface Logprob {
  token: number;
  text: string;
  logprob: number;
}

/** A token of an answer, the likeliest at its place beside it. By the model's distribution as it is, before any sampling filter. */
export interface TokenLogprobs extends Logprob {
  top: Logprob[];
}

/** More of an answer. */
export interface CompletionDelta {
  text: string;
  /** Of the tokens that brought it; absent where they were not asked for. */
  logprobs?: TokenLogprobs[] | undefined;
}

export interface CompletionRun {
  signal: AbortSignal;
  /** It has the model, and waits no more. */
  onBegin?: (() => void) | undefined;
  /** Its prompt has been processed: what that took, before the first token. Not told of a model on a server, which counts at the end. */
  onPrompt?: ((usage: PromptUsage) => void) | undefined;
  onDelta?: ((delta: CompletionDelta) => void) | undefined;
  /** More of what the model thinks before it answers. */
  onThought?: ((text: string) => void) | undefined;
}

/** Tokens of a prompt, by what became of them. */
export interface PromptUsage {
  promptTokens: number;
  /** Of these, those that were not computed for this request: known beginnings, and tokens of chunks that were reused as stored. */
  cachedTokens: number;
  /** Of the prompt's, those that were encoded and stored for this request, to be reused by the next. */
  storedTokens: number;
}

/** Tokens, told as they were spent. */
interface CompletionUsage extends PromptUsage {
  completionTokens: number;
  /** Of these, those that were thought. */
  thoughtTokens: number;
}

/** How an answer was made. */
interface HowMade {
  stats: AnswerStats;
  plan: FusionPlan;
  notices: Notice[];
}

/** Why an answer ended: by itself or at a stop text, or at the limit of tokens or of the context. */
type Finish = 'stop' | 'length';

export interface CompletionResult {
  /** The model's name, or the library's as it was asked for. */
  model: string;
  /** Names the weights that answered. */
  fingerprint: string;
  text: string;
  thought: string;
  finish: Finish;
  /** The stop text that ended it. */
  stoppedBy: string | undefined;
  logprobs: TokenLogprobs[] | undefined;
  usage: CompletionUsage;
  made: HowMade;
  /** Of a library's answer: the passages in its prompt. Marks in the text, such as [2], count them from 1. */
  citations: Citation[];
}
