/** Asks questions by every method, and scores the answers. */
import type { Model } from '../../src-main/engine/engine.ts';
import { divergenceOf } from '../../src-main/fusion/divergence.ts';
import type { Outcome, Method } from './method.ts';
import { FULL, label } from './methods.ts';
import { PromptMaker, type PromptOptions } from './prompt.ts';
import type { QuestionRecord, Measurement } from './records.ts';
import { holds, SCORES, type ScoreName } from './scores.ts';
import { arranged, type Arrangement } from './sets.ts';
import type { Question, QuestionSet } from './question.ts';

export interface Setting extends Arrangement, PromptOptions {
  methods: readonly Method[];
}

/** Asks the questions that are `mine` and have no known record, each by a full prefill first. Calls `onAsked` with each new record. */
export async function measure(
  model: Model,
  set: QuestionSet,
  setting: Setting,
  {
    mine = () => true,
    known = [],
    onAsked,
  }: {
    mine?: (index: number) => boolean;
    known?: readonly QuestionRecord[];
    onAsked: (asked: QuestionRecord) => void;
  },
): Promise<QuestionRecord[]> {
  const maker = new PromptMaker(model, setting);
  const labels = setting.methods.map(label);
  const all: QuestionRecord[] = [];
  try {
    for (const [index, question] of set.questions.entries()) {
      if (!mine(index)) continue;
      const before = known.find(
        (asked) => asked.index === index && labels.every((name) => name in asked.given),
      );
      const asked = before ?? (await ask(arranged(question, index, setting), index));
      if (!before) onAsked(asked);
      all.push(asked);
    }
  } finally {
    maker.dispose();
  }
  return all;

  async function ask(question: Question, index: number): Promise<QuestionRecord> {
    const prompt = await maker.prompt(question);
    const session = model.createSession(prompt.tokens + question.maxTokens);
    try {
      const asking = { model, maker, question, index, prompt, session };
      const full = await FULL.answer(asking);
      const given: Record<string, Measurement> = {};
      for (const method of setting.methods) {
        const outcome = method === FULL ? full : await method.answer({ ...asking, full: full.written });
        given[label(method)] = givenBy(outcome, full, question, set.scores);
      }
      return { index, kind: question.kind, given };
    } finally {
      session.dispose();
    }
  }
}

function givenBy(got: Outcome, full: Outcome, question: Question, names: readonly ScoreName[]): Measurement {
  const { text, ms, computed } = got;
  const { references, ask, fact } = question;
  return {
    scores: Object.fromEntries(names.map((name) => [name, SCORES[name](text, references, ask)])),
    fact: fact === undefined ? null : holds(text, [fact]),
    ...divergenceOf(full.logits, got.logits),
    ...{ ms, ofFull: ms / full.ms, computed },
  };
}
