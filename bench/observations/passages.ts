import type { Model } from '../../src-main/engine/engine.ts';
import type { Interval } from '../quality/intervals.ts';
import { measure } from '../quality/measure.ts';
import { methodsFor } from '../quality/methods.ts';
import { rowsOf } from '../quality/rows.ts';
import type { QuestionSet } from '../quality/question.ts';

/** Scores by method for each number of passages, which include the question's own (figure 4). */
export interface ByPassages {
  passages: number;
  scores: Record<string, Interval>;
}

const COUNTS = [3, 6, 12, 24];
const METHODS = ['full', 'full reuse'];

export async function scoreByPassages(model: Model, set: QuestionSet): Promise<ByPassages[]> {
  const methods = methodsFor([], undefined).filter(({ name }) => METHODS.includes(name));
  const score = set.scores[0] ?? 'f1';
  const out: ByPassages[] = [];
  for (const passages of COUNTS) {
    const setting = { dtype: 'f16', lead: 'none', chunkTokens: 0, passages, methods } as const;
    const asked = await measure(model, set, setting, { onAsked: () => undefined });
    const rows = rowsOf(asked, methods, set.scores);
    const scores = rows.map(({ method, scores: all }) => [method, all[score]] as const);
    out.push({ passages, scores: Object.fromEntries(scores) as Record<string, Interval> });
  }
  return out;
}
