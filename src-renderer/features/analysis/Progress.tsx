import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Analysis } from '../../../src-shared/contract/analysis.ts';
import type { EventPayload } from '../../../src-shared/contract/events.ts';
import { useEvent } from '../../client/context.tsx';
import { Meter } from '../../ui/Meter.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { stepsInAll } from './figures.ts';
import { useStepName } from './useStepName.ts';
import classes from './Analysis.module.css';

/** The current step, its phase, and the estimated time left. */
export function Progress({ analysis }: { analysis: Analysis }) {
  const { t } = useTranslation(['analysis', 'common']);
  const format = useFormat();
  const nameOf = useStepName(analysis);
  const [progress, setProgress] = useState<EventPayload<'analysis.progress'>>();
  useEvent('analysis.progress', (now) => {
    if (now.id === analysis.id) setProgress(now);
  });
  const { steps, stepsDone, state } = analysis;
  const running = steps.find((step) => step.state === 'running');
  const mine = running && progress?.stepId === running.id ? progress : undefined;
  const share = mine && mine.total > 0 ? mine.done / mine.total : 0;
  const all = stepsInAll(analysis);
  const left = mine?.secondsLeft ?? null;
  const words = [
    running ? nameOf(running) : state === 'waiting' ? t('state.waiting') : t('view.preparing'),
    ...(running && share < 1 && running.text === ''
      ? [t('view.reading', { share: format.percent(share) })]
      : []),
    ...(running && running.text !== '' ? [t('view.writing')] : []),
    ...(left === null
      ? []
      : [t('common:unit.timeLeft', { time: format.duration(Math.max(1, Math.round(left)) * 1000) })]),
  ];
  return (
    <Stack gap={6} role="status">
      <div className={classes.progressText}>
        <Text truncate>{words.join(' · ')}</Text>
        <Text c="dimmed">{t('view.progress', { done: stepsDone, total: all })}</Text>
      </div>
      <Meter share={(stepsDone + share / 2) / all} height={6} label={t('state.running')} />
    </Stack>
  );
}
