import { Group, Loader, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Message } from '../../../../src-shared/contract/chat.ts';
import { useCall, useEvent } from '../../../client/context.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { useActiveServer } from '../../../ui/server/useActiveServer.ts';
import type { LiveAnswer } from '../live/live-answers.ts';
import classes from './Answer.module.css';

/** The phase before the first word, so that the wait is never silent. */
export function AnswerPhase({ message, live }: { message: Message; live: LiveAnswer | undefined }) {
  const { t } = useTranslation(['chat', 'servers']);
  const server = useActiveServer()?.server;
  const modelFraction = useModelLoading();
  const { data: tools } = useCall('tools.list');
  const starting = tools?.servers.find(({ state }) => state === 'starting');
  if (message.state === 'prefilling' && live?.progress && live.progress.total > 0)
    return <Prefill {...live.progress} />;
  const words = (): string => {
    const found = live?.citations?.length ?? message.citations.length;
    if (modelFraction !== undefined) return t('phase.loadingModel');
    if (message.state === 'waiting')
      return starting ? t('phase.startingTools', { name: starting.name }) : t('phase.queued');
    if (found === 0) return t('phase.searching');
    if (server) return t('servers:waiting', { count: found, host: server.host });
    return t('phase.found', { count: found });
  };
  return (
    <Stack gap={6} className={classes.phase} role="status">
      <Group gap="xs">
        <Loader size={14} aria-hidden />
        <Text c="dimmed">{words()}</Text>
      </Group>
      {modelFraction !== undefined && (
        <Progress value={modelFraction * 100} size="sm" aria-label={t('phase.loadingModel')} />
      )}
    </Stack>
  );
}

/** Between the result of a tool and the next word. */
export function ReadingResult() {
  const { t } = useTranslation('chat');
  return (
    <Group gap="xs" className={classes.phase} role="status">
      <Loader size={14} aria-hidden />
      <Text c="dimmed">{t('phase.readingResult')}</Text>
    </Group>
  );
}

function Prefill({ done, total, secondsLeft }: { done: number; total: number; secondsLeft: number | null }) {
  const { t } = useTranslation(['chat', 'common']);
  const format = useFormat();
  const share = total > 0 ? Math.min(1, done / total) : 0;
  return (
    <Stack gap={6} className={classes.phase}>
      <Group gap="xs" justify="space-between">
        <Text c="dimmed">{t('phase.prefilling')}</Text>
        <Text c="dimmed" className={classes.numbers}>
          {format.percent(share)}
          {secondsLeft !== null &&
            ` · ${t('common:unit.timeLeft', { time: format.duration(secondsLeft * 1000) })}`}
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
