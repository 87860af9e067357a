import { Button, Group, Progress, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { useAction, useCall, useEvent } from '../../client/context.tsx';
import { notifyFailureAs } from '../../ui/notify.tsx';
import classes from './Measure.module.css';
import type { Words } from './useWords.ts';

interface MeasuredAnswer {
  conversationId: string;
  answerId: string;
  words: Words;
}

/** Replaces the estimate with a measurement. It takes as long as a full prefill, so it can be cancelled. */
export function Measure({ conversationId, answerId, words }: MeasuredAnswer) {
  const { t } = words;
  const { mutate, isPending } = useAction('chat.measureFullPrefill');
  const { refetch } = useCall('chat.report', { answerId });
  const measure = () =>
    mutate(
      { answerId },
      {
        onSuccess: () => void refetch(),
        onError: (error) => {
          if (error.code !== 'ABORTED') notifyFailureAs(t('summary.measureFailed'), error);
        },
      },
    );
  if (isPending) return <Measuring conversationId={conversationId} answerId={answerId} words={words} />;
  return (
    <Tooltip label={t('summary.measureHelp')} multiline w={280}>
      <Button size="compact-xs" variant="light" ml={8} onClick={measure}>
        {t('summary.measure')}
      </Button>
    </Tooltip>
  );
}

function Measuring({ conversationId, answerId, words: { t } }: MeasuredAnswer) {
  const [share, setShare] = useState(0);
  const { mutate: stop, isPending: stopping } = useAction('chat.stop');
  useEvent('chat.progress', (progress) => {
    if (progress.answerId === answerId && progress.total > 0) setShare(progress.done / progress.total);
  });
  return (
    <Group gap={8} wrap="nowrap" component="span">
      <Progress
        className={classes.measuring ?? ''}
        value={share * 100}
        size="sm"
        aria-label={t('summary.measuring')}
      />
      <Button
        size="compact-xs"
        variant="default"
        loading={stopping}
        onClick={() => stop({ id: conversationId })}
      >
        {t('common:action.cancel')}
      </Button>
    </Group>
  );
}
