import type { ScoreName } from './scores.ts';

export interface Question {
  kind: string;
  /** In prompt order. Questions of one context share the array. */
  passages: readonly string[];
  /** By passage: the headings above it that its text lacks, encoded before it. */
  leads?: ReadonlyMap<string, string> | undefined;
  /** Indices of the passages that the answer needs, if known. */
  needs?: readonly number[] | undefined;
  /** Text before and after the passages; the text after them contains the question. */
  before: string;
  ask: string;
  /** Question to ask about a single passage. Default: the question itself. */
  note?: string | undefined;
  /** Marks an answer that found nothing, in lower case. */
  nothing?: string | undefined;
  references: readonly string[];
  /** Put to the model unchanged, without its chat template. */
  bare?: boolean | undefined;
  /** Must occur in a correct answer if references are whole sentences. */
  fact?: string | undefined;
  /** Maximum tokens of the answer, and whether only its first line counts. */
  maxTokens: number;
  firstLine?: boolean | undefined;
}

export interface QuestionSet {
  name: string;
  /** The first is the set's main score. */
  scores: readonly ScoreName[];
  questions: Question[];
}
