import { Loader, Progress, Stack } from '@mantine/core';
import { IconBooks, IconCircleCheckFilled, IconCpu, IconDatabase, type Icon } from '@tabler/icons-react';
import { failureWords } from '../../i18n/failures.ts';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../client/context.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { useNotBlended } from '../../ui/useNotBlended.ts';
import { modelStep, readyOf, type ModelStep } from './readiness.ts';
import classes from './Welcome.module.css';

/** Current state of library, model and cache. */
export function Readiness() {
  const { t } = useTranslation('welcome');
  return (
    <ul className={classes.steps} aria-label={t('steps.label')}>
      <LibraryStep />
      <ModelStatus />
      <CacheStep />
    </ul>
  );
}

function LibraryStep() {
  const { t } = useTranslation('welcome');
  const { data: libraries } = useCall('libraries.list');
  const sample = libraries?.find((library) => library.sample);
  const documents = sample ? readyOf(sample) : 0;
  return (
    <Step
      icon={IconBooks}
      title={t('steps.library')}
      text={documents > 0 ? t('steps.libraryReady', { count: documents }) : t('steps.libraryEmpty')}
      state={documents > 0 ? 'done' : 'working'}
    />
  );
}

function ModelStatus() {
  const { t, i18n } = useTranslation('welcome');
  const { data: models } = useCall('models.list');
  const step: ModelStep = models ? modelStep(models) : { kind: 'loading' };
  const words = {
    ready: t('steps.modelReady'),
    idle: t('steps.modelIdle'),
    loading: t('steps.modelLoading'),
    none: t('steps.modelNone'),
    other: t('steps.modelOther', { name: step.kind === 'other' ? step.name : '' }),
    failed: step.kind === 'failed' ? failureWords(step.failure, i18n.language).message : '',
  };
  const state =
    step.kind === 'loading' ? 'working' : step.kind === 'none' || step.kind === 'failed' ? 'open' : 'done';
  return <Step icon={IconCpu} title={t('steps.model')} text={words[step.kind]} state={state} />;
}

function CacheStep() {
  const { t } = useTranslation('welcome');
  const format = useFormat();
  const { data: libraries = [] } = useCall('libraries.list');
  const { data: queue } = useCall('queue.status');
  const total = libraries.reduce((sum, { chunks }) => sum + chunks, 0);
  const done = libraries.reduce((sum, { cachedChunks }) => sum + cachedChunks, 0);
  const notBlended = useNotBlended();
  const pending = libraries.reduce((sum, library) => sum + library.pending, 0);
  const complete = total > 0 && (notBlended === undefined ? done >= total : pending === 0);
  const share = { share: format.percent(total > 0 ? done / total : 0) };
  const seconds = queue?.secondsLeft ?? null;
  const leftOut = (queue?.tokensLeftOut ?? 0) > 0; // counted once nothing is left to do
  let text = t('steps.cacheProgress', share);
  if (complete) text = notBlended ?? t('steps.cacheDone');
  else if (leftOut) text = t('steps.cacheLeftOut', share);
  else if (queue?.paused) text = t('steps.cachePaused', share);
  else if (seconds !== null) text = t('steps.cacheLeft', { ...share, time: format.duration(seconds * 1000) });
  return (
    <Step
      icon={IconDatabase}
      title={t('steps.cache')}
      text={text}
      state={complete ? 'done' : leftOut ? 'open' : 'working'}
    >
      {!complete && (
        <>
          <Progress
            mt={6}
            size="sm"
            value={total > 0 ? (done / total) * 100 : 0}
            transitionDuration={300}
            aria-label={t('steps.cache')}
          />
        </>
      )}
    </Step>
  );
}

function Step({
  icon: StepIcon,
  title,
  text,
  state,
  children,
}: {
  icon: Icon;
  title: string;
  text: string;
  state: 'done' | 'working' | 'open';
  children?: React.ReactNode;
}) {
  return (
    <li className={classes.step}>
      <StepIcon size={22} stroke={1.6} aria-hidden />
      <Stack gap={0} flex={1} miw={0} mih={58}>
        <span className={classes.stepTitle}>
          {title}
          {state === 'done' && <IconCircleCheckFilled size={15} className={classes.check} aria-hidden />}
          {state === 'working' && <Loader size={12} aria-hidden />}
        </span>
        <span className={classes.stepText}>{text}</span>
        {children}
      </Stack>
    </li>
  );
}
