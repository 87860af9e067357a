import { Anchor, Loader, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { Analysis } from '../../../src-shared/contract/analysis.ts';
import { useCall, useEvent } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { Page } from '../../ui/Page.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { AnalysisActions } from './AnalysisActions.tsx';
import { DocumentSteps } from './DocumentSteps.tsx';
import { current, withPiece, type LiveStep } from './live-step.ts';
import { Progress } from './Progress.tsx';
import { QuestionTable } from './QuestionTable.tsx';
import { SharedFigures } from './SharedFigures.tsx';
import classes from './Analysis.module.css';

/** One analysis: instruction, progress and results. */
export function AnalysisView({ id }: { id: string }) {
  const { t } = useTranslation('common');
  const { data: kept, error, refetch } = useCall('analysis.get', { id });
  const [live, setLive] = useState<LiveStep>();
  useEvent('analysis.text', (piece) => {
    if (piece.id !== id) return;
    const next = withPiece(
      live,
      piece,
      kept?.steps.find((step) => step.id === piece.stepId),
    );
    if (next) setLive(next);
    else void refetch();
  });
  const analysis = kept && { ...kept, steps: kept.steps.map((step) => current(step, live)) };
  return (
    <Page
      title={analysis?.title ?? ''}
      subtitle={analysis ? <Subtitle analysis={analysis} /> : ' '}
      actions={analysis && <AnalysisActions analysis={analysis} />}
    >
      {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
      {!analysis && !error && <Loader aria-label={t('loading')} />}
      {analysis && <Content analysis={analysis} />}
    </Page>
  );
}

function Subtitle({ analysis }: { analysis: Analysis }) {
  const { t } = useTranslation('analysis');
  const format = useFormat();
  const { request, model, createdMs, steps } = analysis;
  const about = [...(model === '' ? [] : [model]), format.ago(createdMs)].join(' · ');
  if ('questions' in request) return <>{`${t('list.questions', { count: steps.length })} · ${about}`}</>;
  return (
    <>
      <Anchor component={Link} href={`/document/${request.documentId}`} underline="always">
        {request.path}
      </Anchor>
      {` · ${about}`}
    </>
  );
}

function Content({ analysis }: { analysis: Analysis }) {
  const { t } = useTranslation('analysis');
  const { kind, state, failure, instruction } = analysis;
  const busy = state === 'waiting' || state === 'running';
  return (
    <Stack gap={16}>
      {kind === 'document' && (
        <blockquote className={classes.asked} aria-label={t('form.instruction')}>
          {instruction}
        </blockquote>
      )}
      {busy && <Progress analysis={analysis} />}
      {failure && <FailureAlert failure={failure} />}
      {state === 'stopped' && (
        <Text c="dimmed" role="status">
          {t('view.stoppedNote')}
        </Text>
      )}
      {analysis.stepsDone > 0 && <SharedFigures analysis={analysis} />}
      {kind === 'document' ? <DocumentSteps analysis={analysis} /> : <QuestionTable analysis={analysis} />}
    </Stack>
  );
}
