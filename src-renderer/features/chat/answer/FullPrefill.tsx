import { Button, Tooltip } from '@mantine/core';
import { IconStopwatch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { AnswerStats } from '../../../../src-shared/contract/chat.ts';
import { wasFullPrefill } from '../../../../src-shared/ttft.ts';
import { useFormat } from '../../../ui/useFormat.ts';
import { comparedWithFull } from './speedup.ts';
import classes from './Stats.module.css';

/** Time to first token without any cache: measured, or an estimate that the user can replace by a measurement. */
export function FullPrefill({
  stats,
  measuring,
  onMeasure,
}: {
  stats: AnswerStats;
  measuring: boolean;
  onMeasure: () => void;
}) {
  const { t } = useTranslation('chat');
  const format = useFormat();
  if (wasFullPrefill(stats)) return null;
  const beside = comparedWithFull(stats);
  const times = beside && {
    time: format.duration(beside.fullTtftMs),
    shared: format.duration(beside.sharedMs),
    full: format.duration(beside.fullTtftMs - beside.sharedMs),
  };
  if (times && stats.fullPrefillMeasured) {
    return (
      <Tooltip label={t('stats.measured', times)} multiline maw={320} position="bottom" openDelay={400}>
        <span className={classes.instead}>{t('stats.insteadMeasured', times)}</span>
      </Tooltip>
    );
  }
  const label = times ? t('stats.insteadEstimated', times) : t('stats.measure');
  return (
    <Tooltip
      label={times ? t('stats.estimated', times) : t('term.ttft')}
      multiline
      maw={320}
      position="bottom"
      openDelay={400}
    >
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
