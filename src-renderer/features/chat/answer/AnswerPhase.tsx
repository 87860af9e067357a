import { Group, Loader, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message } from '../../../../src-shared/contract/chat.ts';
import { useEvent } from '../../../client/context.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { useActiveServer } from '../../../ui/server/useActiveServer.ts';
import type { LiveAnswer } from '../live/live-answers.ts';
import classes from './Answer.module.css';

/** The phase before the first word, so that the wait is never silent. */
export function AnswerPhase({ message, live }: { message: Message; live: LiveAnswer | undefined }) {
  const { t } = useTranslation(['chat', 'servers']);
  const server = useActiveServer()?.server;
  const modelFraction = useModelLoading();
  if (message.state === 'prefilling' && live?.progress && live.progress.total > 0)
    return <Prefill {...live.progress} />;
  const found = live?.citations?.length ?? message.citations.length;
  return (
    <Stack gap={6} className={classes.phase} role="status">
      <Group gap="xs">
        <Loader size={14} aria-hidden />
        <Text size="sm" c="dimmed">
          {modelFraction !== undefined
            ? t('phase.loadingModel')
            : message.state === 'waiting'
              ? t('phase.queued')
              : found > 0
                ? server
                  ? t('servers:waiting', { count: found, host: server.host })
                  : t('phase.found', { count: found })
                : t('phase.searching')}
        </Text>
      </Group>
      {modelFraction !== undefined && (
        <Progress value={modelFraction * 100} size="sm" aria-label={t('phase.loadingModel')} />
      )}
    </Stack>
  );
}

function Prefill({ done, total, secondsLeft }: { done: number; total: number; secondsLeft: number | null }) {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const share = total > 0 ? Math.min(1, done / total) : 0;
  return (
    <Stack gap={6} className={classes.phase}>
      <Group gap="xs" justify="space-between">
        <Text size="sm" c="dimmed">
          {t('phase.prefilling')}
        </Text>
        <Text size="sm" c="dimmed" className={classes.numbers}>
          {format.percent(share)}
          {secondsLeft !== null &&
            ` · ${t('phase.secondsLeft', { time: format.duration(secondsLeft * 1000) })}`}
        </Text>
      </Group>
      <Progress value={share * 100} size="sm" transitionDuration={150} aria-label={t('phase.prefilling')} />
    </Stack>
  );
}

/** Progress of loading the model; undefined if none is loading. */
function useModelLoading(): number | undefined {
  const [fraction, setFraction] = useState<number>();
  useEvent('models.progress', (progress) =>
    setFraction(progress.fraction < 1 ? progress.fraction : undefined),
  );
  return fraction;
}
