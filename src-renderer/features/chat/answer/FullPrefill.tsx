import { Button, Tooltip } from '@mantine/core';
import { IconStopwatch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { AnswerStats } from '../../../../src-shared/contract/chat.ts';
import { useFormat } from '../../../ui/useFormat.ts';
import classes from './Stats.module.css';

/** What the first token would have taken without any cache: measured, or an estimate that can be measured. */
export function FullPrefill({
  stats: { fullPrefillMs, fullPrefillMeasured, strategy },
  measuring,
  onMeasure,
}: {
  stats: AnswerStats;
  measuring: boolean;
  onMeasure: () => void;
}) {
  const { t } = useTranslation('chat');
  const format = useFormat();
  if (strategy.name === 'full') return null;
  if (fullPrefillMs !== null && fullPrefillMeasured) {
    return (
      <Tooltip label={t('stats.measured')} multiline maw={320}>
        <span className={classes.instead}>
          {t('stats.insteadMeasured', { time: format.duration(fullPrefillMs) })}
        </span>
      </Tooltip>
    );
  }
  const label =
    fullPrefillMs === null
      ? t('stats.measure')
      : t('stats.insteadEstimated', { time: format.duration(fullPrefillMs) });
  return (
    <Tooltip label={t(fullPrefillMs === null ? 'term.ttft' : 'stats.estimated')} multiline maw={320}>
      <Button
        size="compact-sm"
        variant="subtle"
        color="gray"
        className={classes.estimate}
        rightSection={<IconStopwatch size={14} aria-hidden />}
        loading={measuring}
        aria-label={`${label}. ${t('stats.measure')}`}
        onClick={onMeasure}
      >
        {label}
      </Button>
    </Tooltip>
  );
}
