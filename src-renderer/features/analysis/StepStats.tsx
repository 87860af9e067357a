import { useTranslation } from 'react-i18next';
import type { EncodedChunks } from '../../../src-shared/contract/analysis.ts';
import type { AnswerStats } from '../../../src-shared/contract/chat.ts';
import { Meter } from '../../ui/Meter.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { reuseOf } from './figures.ts';
import classes from './Analysis.module.css';

/** The cost of one prompt, and how much of it came from the cache. */
export function StepStats({ stats, encoded }: { stats: AnswerStats; encoded: EncodedChunks | null }) {
  const { t } = useTranslation(['analysis', 'common']);
  const format = useFormat();
  const { tokens, reused, recomputed } = reuseOf([{ stats }]);
  const all = t('common:unit.tokens', { count: tokens });
  const share = tokens > 0 ? reused / tokens : 0;
  const reuse = t('step.reuse', { share: format.percent(share), tokens: all });
  const reads = Object.values(stats.chunkHits).reduce((sum, hits) => sum + hits, 0);
  const words =
    reads === 0
      ? [all]
      : stats.strategy.name === 'full'
        ? [t('step.full', { tokens: all })]
        : [
            reuse,
            ...(recomputed > 0 ? [t('step.recomputed', { count: recomputed })] : []),
            ...(stats.chunkHits.resident > 0 ? [t('step.resident', { count: stats.residentTokens })] : []),
          ];
  if (encoded)
    words.push(
      t('step.encoded', {
        chunks: t('common:unit.passages', { count: encoded.chunks }),
        time: format.duration(encoded.ms),
      }),
    );
  return (
    <div className={classes.stats}>
      {reads > 0 && (
        <div className={classes.reuse}>
          <Meter share={share} height={4} color="var(--kv-disk)" label={reuse} />
        </div>
      )}
      <span>{[t('step.ttft', { time: format.duration(stats.ttftMs.total) }), ...words].join(' · ')}</span>
    </div>
  );
}
