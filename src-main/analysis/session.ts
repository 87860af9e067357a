import { dependsOnQuestion } from '../../src-shared/strategy.ts';
import type { AnswerChoices } from '../answering/choices.ts';
import { SessionTokens } from '../answering/session-tokens.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';

/** Sessions grow in steps of this many tokens, so that prompts of similar length share one. */
const CAPACITY_STEP = 512;

/** The sessions of an analysis, by lane: created on first use, released together. */
export class AnalysisSessions {
  readonly #create: CreateSession;
  readonly #lanes: AnalysisSession[] = [];

  /** `create` returns a session that only this object uses. OUT_OF_MEMORY. */
  constructor(create: CreateSession) {
    this.#create = create;
  }

  of(lane: number): AnalysisSession {
    return (this.#lanes[lane] ??= new AnalysisSession(this.#create));
  }

  /** Releases their memory; not while a prompt is being computed. */
  release(): void {
    for (const session of this.#lanes) session.release();
  }
}

type CreateSession = (model: FusionModel, capacity: number) => FusionSession;

interface AnalysisSessionRequest {
  model: FusionModel;
  question: string;
  choices: AnswerChoices;
  /** Tokens of the prompt and the answer. */
  need: number;
}

/**
 * The session in which a lane computes one prompt after another. Whatever a prompt begins with that the previous one also held (the system
 * prompt, the same chunks in the same order) stays in place; the rest is blended from the store.
 */
class AnalysisSession {
  readonly #create: CreateSession;
  #kept: { model: FusionModel; tokens: SessionTokens; question: string } | undefined;

  /** `create` returns a session that only this object uses. OUT_OF_MEMORY. */
  constructor(create: CreateSession) {
    this.#create = create;
  }

  /** Releases the session's memory; not while a prompt is being computed. */
  release(): void {
    this.#kept?.tokens.dispose();
    this.#kept = undefined;
  }

  /** OUT_OF_MEMORY. */
  open({ model, question, choices, need }: AnalysisSessionRequest): SessionTokens {
    const kept = this.#kept;
    if (kept?.model === model && kept.tokens.session.capacity >= need) {
      // The tokens recomputed for the previous question are not those that this one needs.
      if (kept.question !== question && dependsOnQuestion(choices.strategy.kind)) kept.tokens.truncate(0);
      kept.question = question;
      return kept.tokens;
    }
    this.release();
    const capacity = Math.min(choices.contextTokens, Math.ceil(need / CAPACITY_STEP) * CAPACITY_STEP);
    const tokens = new SessionTokens(this.#create(model, capacity));
    this.#kept = { model, tokens, question };
    return tokens;
  }
}
