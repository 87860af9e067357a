/**
 * Baselines of CacheBlend §7 that read passages one at a time. Each passage is a separate prompt, computed in full, one after another. All
 * of it counts as time to first token, since the final answer starts only then.
 */
import { mean } from '../../src-main/fusion/averages.ts';
import { topProbability } from '../../src-main/fusion/quality.ts';
import type { Segment, Session } from '../../src-main/engine/engine.ts';
import { textOf, type MethodInput, type Method, type Outcome } from './method.ts';
import type { Question } from './question.ts';

/** A prompt's answer. */
interface CallOutcome extends Outcome {
  /** Mean probability of the answer's tokens, each as the model predicted it. */
  sure: number;
  /** Milliseconds to the end of the answer. */
  wholeMs: number;
}

/** Notes on each passage, then the answer from the useful notes, or from the first note if none is useful. */
export const MAP_REDUCE: Method = {
  name: 'MapReduce',
  answer: (asking) =>
    inOwnSession(asking, async (session) => {
      const { question } = asking;
      const notes = await each(asking, session, question.note ?? question.ask);
      const useful = notes.filter(({ text }) => !saysNothing(question, text));
      const passages = (useful.length > 0 ? useful : notes.slice(0, 1)).map(({ text }) => `${text}\n\n`);
      const last = await say(asking, session, { ...question, passages });
      return { ...last, ms: last.ms + timeOf(notes) };
    }),
};

/** The answer from each passage alone; returns the one with the highest model confidence, useful ones first. */
export const MAP_RERANK: Method = {
  name: 'MapRerank',
  answer: (asking) =>
    inOwnSession(asking, async (session) => {
      const { question } = asking;
      const said = await each(asking, session, question.ask);
      const useful = said.filter(({ text }) => !saysNothing(question, text));
      const [best] = (useful.length > 0 ? useful : said).toSorted((a, b) => b.sure - a.sure);
      if (!best) throw new Error('the question has no passages');
      return { ...best, ms: timeOf(said) };
    }),
};

/** Notes may be longer than the passages they summarise. */
async function inOwnSession<T>(
  { model, prompt, question }: MethodInput,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const most = prompt.tokens + (question.passages.length + 1) * question.maxTokens;
  const session = model.createSession(most);
  try {
    return await work(session);
  } finally {
    session.dispose();
  }
}

async function each(asking: MethodInput, session: Session, ask: string): Promise<CallOutcome[]> {
  const out: CallOutcome[] = [];
  for (const passage of asking.question.passages)
    out.push(await say(asking, session, { ...asking.question, ask, passages: [passage] }));
  return out;
}

async function say(
  { model, maker }: MethodInput,
  session: Session,
  question: Question,
): Promise<CallOutcome> {
  session.truncate(0);
  const started = performance.now();
  const { before, passages, ask } = maker.layout(question);
  const segments = [before, ...passages, ask]
    .filter(({ length }) => length > 0)
    .map((tokens): Segment => ({ kind: 'compute', tokens }));
  const { totalMs } = await session.append(segments, { kind: 'full' });
  const logits = [session.logits().slice()];
  const tokens: number[] = [];
  const sure: number[] = [];
  while (tokens.length < question.maxTokens) {
    sure.push(topProbability(session.logits()));
    const { tokens: next } = await session.generate({ maxTokens: 1 });
    if (next.length === 0) break;
    tokens.push(...next);
  }
  const text = textOf(model, tokens, question);
  const wholeMs = performance.now() - started;
  return { text, logits, written: { tokens, logits }, ms: totalMs, wholeMs, computed: 1, sure: mean(sure) };
}

function timeOf(said: readonly CallOutcome[]): number {
  return said.reduce((sum, { wholeMs }) => sum + wholeMs, 0);
}

function saysNothing({ nothing }: Question, text: string): boolean {
  return nothing !== undefined && text.toLowerCase().includes(nothing);
}
