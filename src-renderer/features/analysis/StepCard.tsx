import { Alert } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Analysis, Step } from '../../../src-shared/contract/analysis.ts';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { MarkdownBlocks } from '../../ui/markdown/Markdown.tsx';
import { lex } from '../../ui/markdown/tokens.ts';
import { NoticeText } from '../../ui/NoticeText.tsx';
import { RepeatStep, ContinueStep } from './StepActions.tsx';
import { StepSources } from './StepSources.tsx';
import { StepStats } from './StepStats.tsx';
import { useStepName } from './useStepName.ts';
import classes from './Analysis.module.css';

/** A window or a combining step: its answer, sources and cost. */
export function StepCard({
  analysis,
  step,
  result = false,
}: {
  analysis: Analysis;
  step: Step;
  result?: boolean;
}) {
  const { t } = useTranslation('analysis');
  const name = useStepName(analysis)(step);
  const { kind, from, to, state, stats, failure, notices } = step;
  return (
    <article className={classes.card} data-state={state} data-result={result}>
      <header className={classes.cardHead}>
        <h3>{name}</h3>
        {kind === 'window' && <span>{t('view.parts', { from: from + 1, to })}</span>}
        <RepeatStep analysis={analysis} step={step} name={name} />
      </header>
      <StepText step={step} />
      {failure && <FailureAlert failure={failure} />}
      {notices.map((notice) => (
        <Alert key={notice.message} color="gray" py={6}>
          <NoticeText notice={notice} />
        </Alert>
      ))}
      <ContinueStep analysis={analysis} step={step} />
      {stats && <StepStats stats={stats} encoded={step.encoded} />}
      <StepSources step={step} name={name} />
    </article>
  );
}

/** A step's answer, or the reason why there is none yet. */
export function StepText({ step: { state, text, failure } }: { step: Step }) {
  const { t } = useTranslation('analysis');
  const blocks = useMemo(() => lex(text).blocks, [text]);
  if (text !== '')
    return (
      <div className={classes.answer}>
        <MarkdownBlocks blocks={blocks} />
      </div>
    );
  if (failure) return null;
  const words = {
    waiting: 'view.waiting',
    running: 'view.working',
    done: 'view.empty',
    failed: 'view.waiting',
  } as const;
  return <p className={classes.pending}>{t(words[state])}</p>;
}
