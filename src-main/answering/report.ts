import type { FusionReport } from '../../src-shared/fusion-report.ts';
import { fusionReport } from '../fusion/report.ts';
import type { Answer } from './answer.ts';
import type { Ask } from './ask.ts';
import type { LocalTurn } from './backends/backend.ts';
import { tokenTexts } from './detokenizer.ts';

/** How an answer was made here, as the fusion panel shows it. */
export async function answerReport(
  answerId: string,
  { question, choices: { dtype } }: Pick<Ask, 'question' | 'choices'>,
  { stats, figures }: Pick<Answer, 'stats' | 'figures'>,
  turn: LocalTurn,
): Promise<FusionReport> {
  const { model } = turn;
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
    model: stats.model,
    layerCount: model.info.layers,
    tokenTexts: await tokenTexts(tokens, (ids) => model.detokenize(ids, { special: true })),
    tokenBytes: model.bytesPerToken(dtype),
    strategy: stats.strategy,
    ttftMs: stats.ttftMs,
    fullPrefillMs: stats.fullPrefillMs,
    fullPrefillMeasured: stats.fullPrefillMeasured,
    figures,
    append: turn.blended.report,
    plan: turn.plan,
    drafts: stats.drafts,
  });
}
