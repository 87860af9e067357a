import type { Comparison } from '../../../../src-shared/comparison.ts';
import { STAGES } from '../../../viz/stages.ts';
import { csv } from '../csv.ts';
import type { Words } from '../useWords.ts';

/** One row per method; stages have the same names as in the window. */
export function methodsCsv({ methods }: Comparison, { t }: Pick<Words, 't'>): string {
  return csv(
    [
      ...[
        'way',
        'strategy',
        'ratio',
        'this_answer',
        'ttft_ms',
        ...STAGES.map((stage) => `${t(`stages:${stage}.name`)} (ms)`),
      ],
      ...['resident_tokens', 'reused_tokens', 'recomputed_tokens', 'bytes_loaded'],
      ...['kl', 'same_first_token', 'answer_f1', 'complete', 'text'],
    ],
    methods.map((way) => [
      ...[way.kind, way.strategy.name, way.strategy.ratio, way.answered, way.ttftMs.total],
      ...STAGES.map((stage) => way.ttftMs[stage]),
      ...[way.residentTokens, way.reusedTokens, way.recomputedTokens, way.bytesLoaded],
      ...[way.kl, way.agrees, way.answerF1, way.complete, way.text],
    ]),
  );
}
