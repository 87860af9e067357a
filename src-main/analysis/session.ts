import { dependsOnQuestion } from '../../src-shared/strategy.ts';
import type { AnswerChoices } from '../answering/choices.ts';
import { SessionTokens } from '../answering/session-tokens.ts';
import type { FusionModel, FusionSession } from '../fusion/model.ts';

/** Sessions grow in steps of so many tokens, so that prompts of nearly one length share one. */
const CAPACITY_STEP = 512;

/** Those of an analysis, by lane: made when they are first asked for, and all given back together. */
export class AnalysisSessions {
  readonly #create: CreateSession;
  readonly #lanes: AnalysisSession[] = [];

  /** `create` gives a session of its own. OUT_OF_MEMORY. */
  constructor(create: CreateSession) {
    this.#create = create;
  }

  of(lane: number): AnalysisSession {
    return (this.#lanes[lane] ??= new AnalysisSession(this.#create));
  }

  /** Gives their memory back; not while a prompt is being made. */
  release(): void {
    for (const session of this.#lanes) session.release();
  }
}

type CreateSession = (model: FusionModel, capacity: number) => FusionSession;

interface WantedSession {
  model: FusionModel;
  question: string;
  choices: AnswerChoices;
  /** Tokens of prompt and answer. */
  need: number;
}

/**
 * The session in which a lane of an analysis makes one prompt after another: what a prompt begins with and the one before ended up with
 * (the system prompt, the same chunks in the same order) stays where it is, the rest is blended from the store.
 */
class AnalysisSession {
  readonly #create: CreateSession;
  #kept: { model: FusionModel; tokens: SessionTokens; question: string } | undefined;

  /** `create` gives a session of its own. OUT_OF_MEMORY. */
  constructor(create: CreateSession) {
    this.#create = create;
  }

  /** Gives the session's memory back; not while a prompt is being made. */
  release(): void {
    this.#kept?.tokens.dispose();
    this.#kept = undefined;
  }

  /** OUT_OF_MEMORY. */
  open({ model, question, choices, need }: WantedSession): SessionTokens {
    const kept = this.#kept;
    if (kept?.model === model && kept.tokens.session.capacity >= need) {
      // What the former question had recomputed is not what this one would have.
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
