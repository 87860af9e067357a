import type { FusionReport } from '../../src-shared/fusion-report.ts';
import { fusionReport } from '../fusion/report.ts';
import type { AnswerRequest, MadeAnswer } from './answer.ts';
import { tokenTexts } from './detokenizer.ts';

/** How an answer was made, as the fusion panel shows it. */
export async function answerReport(
  answerId: string,
  { turn, stats }: MadeAnswer,
  {
    name,
    model,
    question,
    choices: { dtype },
  }: Pick<AnswerRequest, 'name' | 'model' | 'question' | 'choices'>,
): Promise<FusionReport> {
  const reused = turn.blended.reuse.values();
  const appended = turn.appended.map(({ kind, tokens, source }) => {
    const reuse = kind === 'chunk' ? reused.next().value : undefined;
    return { kind, tokens, source, reuse };
  });
  const tokens = turn.appended.flatMap((part) => [...part.tokens]);
  return fusionReport({
    answerId,
    question,
    dtype,
    appended,
    model: name,
    layerCount: model.info.layers,
    tokenTexts: await tokenTexts(tokens, (ids) => model.detokenize(ids, { special: true })),
    tokenBytes: model.bytesPerToken(dtype),
    strategy: stats.strategy,
    ttftMs: stats.ttftMs,
    fullPrefillMs: stats.fullPrefillMs,
    fullPrefillMeasured: stats.fullPrefillMeasured,
    figures: turn.figures,
    append: turn.blended.report,
    plan: turn.plan,
  });
}
