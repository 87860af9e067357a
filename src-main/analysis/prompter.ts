import type { StepSource } from '../../src-shared/contract/analysis.ts';
import type { AnswerStats, Citation } from '../../src-shared/contract/chat.ts';
import type { Notice } from '../../src-shared/answer.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { answerStats } from '../answering/stats.ts';
import { fallbackNotice, promptNotices, quarantineNotice } from '../answering/notices.ts';
import { citationsOf, type FoundPassage } from '../answering/passages.ts';
import { PromptAssembler, type Prompt } from '../answering/prompt.ts';
import { Resident } from '../answering/session-tokens.ts';
import type { Stopwatch } from '../answering/stopwatch.ts';
import { runTurn, type TurnResult } from '../answering/turn.ts';
import type { Progress } from '../engine/engine.ts';
import type { Planner } from '../fusion/planning/planner.ts';
import type { ChunkCache, FusionModel, FusionSession } from '../fusion/model.ts';
import { isAborted } from '../platform/abort.ts';
import type { Choices } from './choices.ts';

export interface PrompterOptions {
  store: ChunkCache;
  planner: Planner;
  /** A session of its own. OUT_OF_MEMORY. */
  openSession: (model: FusionModel, capacity: number) => FusionSession;
}

/** One prompt of an analysis. */
export interface PromptTask {
  model: FusionModel;
  /** The model's name. */
  name: string;
  question: string;
  offered: readonly FoundPassage[];
  choices: Choices;
  /** Since the step began. */
  stopwatch: Stopwatch;
  /** Milliseconds of that for finding passages. */
  retrieveMs: number;
  signal: AbortSignal;
  onProgress: (progress: Progress) => void;
  onText: (text: string) => void;
}

export interface MadePrompt {
  text: string;
  sources: StepSource[];
  notices: Notice[];
  stats: AnswerStats;
}

/** Sessions grow in steps of so many tokens, so that prompts of nearly one length share one. */
const CAPACITY_STEP = 512;
const QUOTE_UNITS = 300;

/**
 * Makes one prompt after another in one session: what a prompt begins with and the one before ended up with (the system prompt,
 * the same chunks in the same order) stays where it is, the rest is blended from the store.
 */
export class Prompter {
  readonly #options: PrompterOptions;
  #kept: { model: FusionModel; resident: Resident; question: string } | undefined;

  constructor(options: PrompterOptions) {
    this.#options = options;
  }

  /** Gives the session's memory back; not while a prompt is being made. */
  release(): void {
    this.#kept?.resident.dispose();
    this.#kept = undefined;
  }

  /** To be run within the gate. ABORTED, QUESTION_TOO_LONG, OUT_OF_MEMORY, ENGINE_FAILED. */
  async make(task: PromptTask): Promise<MadePrompt> {
    const { model, question, offered, choices, stopwatch, signal } = task;
    const { contextTokens, maxTokens } = choices;
    const assembler = new PromptAssembler(model, choices.systemPrompt);
    const prompt = assembler.assemble(question, offered, { contextTokens, answerTokens: maxTokens });
    const before = { retrieve: task.retrieveMs, assemble: stopwatch.lap() };
    const resident = this.#session(task, Math.min(contextTokens, prompt.tokens + maxTokens));
    let text = '';
    try {
      const turn = await runTurn(prompt, resident, {
        ...{ model, maxTokens, before, stopwatch, signal },
        store: this.#options.store,
        dtype: choices.dtype,
        strategy: choices.strategy,
        planner: this.#options.planner,
        requestClass: 'analysis',
        sampling: choices.sampling,
        onProgress: task.onProgress,
        onText: (more) => {
          text += more;
          task.onText(more);
        },
      });
      if (turn.stop === 'aborted')
        throw new KvasirError('ABORTED', 'It was stopped while it was being written.');
      return this.#made(task, prompt, turn, text.trimEnd());
    } catch (error) {
      if (!isAborted(error)) this.release(); // who knows what it holds
      throw error;
    }
  }

  #made(task: PromptTask, prompt: Prompt<FoundPassage>, turn: TurnResult, text: string): MadePrompt {
    const { model, name, question, choices } = task;
    const name_ = ({ passage }: FoundPassage): string => `${passage.path} (part ${passage.ordinal + 1})`;
    const notices = promptNotices(prompt, { contextTokens: choices.contextTokens, name: name_ });
    const fallback = fallbackNotice(turn.decision);
    if (fallback) notices.push(fallback);
    const { quarantined } = turn.blended;
    if (quarantined.length > 0) notices.push(quarantineNotice(quarantined.length));
    const tokenBytes = model.bytesPerToken(choices.dtype);
    const citations = citationsOf(prompt, turn.tiers, { question, text });
    return {
      text,
      sources: citations.map((citation) => sourceOf(citation, tokenBytes)),
      notices,
      stats: answerStats({ prompt, turn, name, model }, this.#options.planner.costs),
    };
  }

  #session({ model, question, choices }: PromptTask, need: number): Resident {
    const kept = this.#kept;
    if (kept?.model === model && kept.resident.session.capacity >= need) {
      // What the former question had recomputed is not what this one would have.
      if (kept.question !== question && looksAtQuestion(choices)) kept.resident.truncate(0);
      kept.question = question;
      return kept.resident;
    }
    this.release();
    const capacity = Math.min(choices.contextTokens, Math.ceil(need / CAPACITY_STEP) * CAPACITY_STEP);
    const resident = new Resident(this.#options.openSession(model, capacity));
    this.#kept = { model, resident, question };
    return resident;
  }
}

function looksAtQuestion({ strategy: { kind } }: Choices): boolean {
  return kind === 'query' || kind === 'union' || kind === 'auto';
}

function sourceOf(citation: Citation, tokenBytes: number): StepSource {
  const { documentId, libraryId, path, title, page, ordinal, start, end, tier, tokens } = citation;
  const said = citation.highlights
    .map((range) => citation.text.slice(range.start, range.end).replace(/\s+/g, ' ').trim())
    .join(' … ');
  const quote = said.length > QUOTE_UNITS ? `${said.slice(0, QUOTE_UNITS).toWellFormed()}…` : said;
  const place = { documentId, libraryId, path, title, page, ordinal, start, end };
  return { ...place, tier, tokens, quote, bytes: tokens * tokenBytes };
}
