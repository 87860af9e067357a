import { Button, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { FailureText } from '../../ui/FailureText.tsx';
import { useTranslation } from 'react-i18next';
import type { Download } from '../../../src-shared/contract/models.ts';
import { useAction, useCall, useEvent } from '../../client/context.tsx';
import { Subtext } from '../../ui/Subtext.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { useState } from 'react';

/** Unfinished downloads; each line follows its own events. */
export function DownloadList() {
  const { data: downloads } = useCall('models.downloads');
  const [latest, setLatest] = useState<ReadonlyMap<string, Download>>(new Map());
  useEvent('models.download', (download) => setLatest((known) => new Map(known).set(download.id, download)));
  const open = (downloads ?? [])
    .map((download) => latest.get(download.id) ?? download)
    .filter(({ state }) => state !== 'done');
  if (open.length === 0) return null;
  return (
    <Stack gap="sm">
      {open.map((download) => (
        <DownloadLine key={download.id} download={download} />
      ))}
    </Stack>
  );
}

function DownloadLine({ download }: { download: Download }) {
  const { t } = useTranslation(['models', 'common']);
  const format = useFormat();
  const { id, name, state, bytesDone, bytesTotal, bytesPerSecond, secondsLeft, failure } = download;
  const pause = useAction('models.pauseDownload');
  const resume = useAction('models.resumeDownload');
  const cancel = useAction('models.cancelDownload');
  const facts = [
    t(`download.state.${state}`),
    bytesTotal > 0
      ? t('common:unit.of', { done: format.bytes(bytesDone), total: format.bytes(bytesTotal) })
      : format.bytes(bytesDone),
    state === 'downloading' &&
      bytesPerSecond > 0 &&
      t('download.speed', { speed: format.bytes(bytesPerSecond) }),
    state === 'downloading' &&
      secondsLeft !== null &&
      t('download.left', { time: format.duration(secondsLeft * 1000) }),
  ].filter((fact) => fact !== false);
  return (
    <Paper withBorder p="sm">
      <Stack gap={6}>
        <Group justify="space-between" wrap="nowrap">
          <Text size="md" fw={600} truncate>
            {name}
          </Text>
          <Group gap="xs" wrap="nowrap">
            {(state === 'downloading' || state === 'queued') && (
              <Button
                size="compact-sm"
                variant="default"
                onClick={() => pause.mutate({ id }, { onError: notifyFailure })}
              >
                {t('common:action.pause')}
              </Button>
            )}
            {(state === 'paused' || state === 'failed') && (
              <Button
                size="compact-sm"
                variant="light"
                onClick={() => resume.mutate({ id }, { onError: notifyFailure })}
              >
                {t('common:action.resume')}
              </Button>
            )}
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => cancel.mutate({ id }, { onError: notifyFailure })}
            >
              {t('common:action.cancel')}
            </Button>
          </Group>
        </Group>
        <Progress
          value={bytesTotal > 0 ? (bytesDone / bytesTotal) * 100 : 0}
          color={state === 'failed' ? 'red' : 'kvasir'}
          aria-label={name}
        />
        <Subtext>{facts.join(' · ')}</Subtext>
        {failure && (
          <Text c="var(--kv-danger)">
            <FailureText failure={failure} />
          </Text>
        )}
      </Stack>
    </Paper>
  );
}
