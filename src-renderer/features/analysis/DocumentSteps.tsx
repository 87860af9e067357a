import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Analysis, Step } from '../../../src-shared/contract/analysis.ts';
import { resultOf } from './figures.ts';
import { StepCard } from './StepCard.tsx';
import classes from './Analysis.module.css';

/** The answer for the whole document, the answer of each window, and the combining steps. */
export function DocumentSteps({ analysis }: { analysis: Analysis }) {
  const { t } = useTranslation('analysis');
  const windows = analysis.steps.filter(({ kind }) => kind === 'window');
  const rounds = analysis.steps.filter(({ kind }) => kind === 'combine');
  const result = resultOf(analysis);
  const last = result ?? (rounds.at(-1)?.state === 'running' ? rounds.at(-1) : undefined);
  const between = rounds.filter((step) => step !== last);
  return (
    <>
      <section className={classes.section} aria-label={t('view.result')}>
        <h2>{t('view.result')}</h2>
        {last ? (
          <StepCard analysis={analysis} step={last} result />
        ) : (
          <Text c="dimmed">{t('view.noResult')}</Text>
        )}
      </section>
      {between.length > 0 && <Cards title={t('view.rounds')} steps={between} analysis={analysis} />}
      {(windows.length > 1 || !last) && (
        <Cards title={t('view.windows')} steps={windows} analysis={analysis} />
      )}
    </>
  );
}

function Cards({ title, steps, analysis }: { title: string; steps: readonly Step[]; analysis: Analysis }) {
  return (
    <section className={classes.section} aria-label={title}>
      <h2>{title}</h2>
      <Stack gap={10} component="ol">
        {steps.map((step) => (
          <li key={step.id}>
            <StepCard analysis={analysis} step={step} />
          </li>
        ))}
      </Stack>
    </section>
  );
}
