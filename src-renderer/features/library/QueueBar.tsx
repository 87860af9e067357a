import { Button, Progress } from '@mantine/core';
import { IconAlertTriangle, IconPlayerPause, IconPlayerPlay } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { QueueStatus } from '../../../src-shared/contract/libraries.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { failureWords } from '../../i18n/failures.ts';
import { joinSentences } from '../../i18n/join-sentences.ts';
import { IconButton } from '../../ui/IconButton.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { Remedy } from '../../ui/Remedy.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import classes from './QueueBar.module.css';

/** Status of the document queue. Always visible at a fixed height, so that the layout does not shift. */
export function QueueBar() {
  const { t } = useTranslation(['library', 'common']);
  const { data: status } = useCall('queue.status');
  return (
    <section className={classes.bar} aria-label={t('queue.label')}>
      {status && <Status status={status} />}
    </section>
  );
}

function Status({ status }: { status: QueueStatus }) {
  const { t } = useTranslation(['library', 'common']);
  const working = status.waiting + status.active > 0;
  return (
    <>
      {(working || status.paused) && <PauseButton paused={status.paused} />}
      {status.blocked ? <Blocked status={status} /> : <Work status={status} working={working} />}
      {working && !status.blocked && <Numbers status={status} />}
      {status.failed > 0 && <RetryFailed label={t('queue.retry', { count: status.failed })} />}
    </>
  );
}

function Work({ status, working }: { status: QueueStatus; working: boolean }) {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  return (
    <div className={classes.work}>
      <span className={classes.text} role="status">
        {sentence()}
      </span>
      {working && (
        <Progress
          size={4}
          value={shareDone(status) * 100}
          aria-label={t('queue.progress')}
          color={status.paused ? 'gray' : 'kvasir'}
        />
      )}
    </div>
  );

  function sentence(): ReactNode {
    if (status.paused && working) return t('queue.pausedWaiting', { count: status.waiting + status.active });
    if (status.paused) return t('queue.paused');
    if (!working) return idle();
    if (!status.current) return t(status.done + status.tokensDone > 0 ? 'queue.between' : 'queue.starting');
    const { phase, path, done, total } = status.current;
    const words = { phase: t(`phase.${phase}`), path };
    return phase === 'recognising'
      ? t('queue.pageOf', { ...words, page: format.number(done + 1), pages: format.number(total) })
      : t('queue.working', words);
  }

  function idle(): ReactNode {
    if (status.failed > 0) return t('queue.idleFailed');
    if (status.tokensLeftOut > 0)
      return t('queue.idleLeftOut', { tokens: format.number(status.tokensLeftOut) });
    return t('queue.idle');
  }
}

function Blocked({ status: { blocked } }: { status: QueueStatus }) {
  const { t, i18n } = useTranslation(['library', 'common']);
  if (!blocked) return null;
  const { message, advice, detail } = failureWords(blocked, i18n.language);
  return (
    <div className={`${classes.work ?? ''} ${classes.blocked ?? ''}`} role="alert">
      <IconAlertTriangle size={18} aria-hidden className={classes.icon} />
      <span className={classes.text} title={joinSentences([message, advice, detail])}>
        <strong>{t('queue.blocked')}</strong> {joinSentences([message, advice])}
      </span>
      <div className={classes.remedy}>
        <Remedy failure={blocked} />
      </div>
    </div>
  );
}

function Numbers({ status }: { status: QueueStatus }) {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const { done, total, tokensPerSecond, secondsLeft } = status;
  return (
    <span className={classes.numbers}>
      <span>{t('queue.documents', { done: format.number(done), total: format.number(total) })}</span>
      {tokensPerSecond > 0 && (
        <span>{t('common:unit.tokensPerSecond', { value: format.number(tokensPerSecond) })}</span>
      )}
      {secondsLeft !== null && (
        <span>{t('common:unit.timeLeft', { time: format.duration(Math.ceil(secondsLeft) * 1000) })}</span>
      )}
    </span>
  );
}

function PauseButton({ paused }: { paused: boolean }) {
  const { t } = useTranslation(['library', 'common']);
  const pause = useAction('queue.pause');
  const resume = useAction('queue.resume');
  const label = paused ? t('common:action.resume') : t('common:action.pause');
  if (paused) {
    return (
      <Button
        size="compact-sm"
        leftSection={<IconPlayerPlay size={15} />}
        onClick={() => resume.mutate({}, { onError: notifyFailure })}
      >
        {label}
      </Button>
    );
  }
  return (
    <IconButton
      label={label}
      color="kvasir"
      variant="light"
      size="md"
      onClick={() => pause.mutate({}, { onError: notifyFailure })}
    >
      <IconPlayerPause size={17} />
    </IconButton>
  );
}

function RetryFailed({ label }: { label: string }) {
  const retry = useAction('queue.retryFailed');
  return (
    <Button
      size="compact-sm"
      variant="light"
      color="red"
      loading={retry.isPending}
      onClick={() => retry.mutate({}, { onError: notifyFailure })}
    >
      {label}
    </Button>
  );
}

/** By tokens once they are known, because documents differ in length. */
function shareDone({ tokensDone, tokensTotal, done, total }: QueueStatus): number {
  if (tokensTotal > 0) return tokensDone / tokensTotal;
  return total > 0 ? done / total : 0;
}
