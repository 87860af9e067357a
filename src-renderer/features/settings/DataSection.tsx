import { Alert, Button, Code, FileButton, Group, Paper, Progress, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AppInfo, Backup } from '../../../src-shared/contract/app.ts';
import { useAction, useCall, useClient, useEvent } from '../../client/context.tsx';
import { Subtext } from '../../ui/Subtext.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { ExportSection } from './ExportSection.tsx';

export function DataSection() {
  const { t } = useTranslation('settings');
  const format = useFormat();
  const { data: info } = useCall('app.info');
  const reveal = useAction('app.reveal');
  return (
    <>
      <Stack gap={6}>
        <Text fw={500}>{t('data.folder')}</Text>
        {info && <Code block>{info.dataDir}</Code>}
        {info && (
          <Group gap="md">
            {info.nativeDialogs && (
              <Button variant="default" size="xs" onClick={() => reveal.mutate({ path: info.dataDir })}>
                {t('data.reveal')}
              </Button>
            )}
            {info.diskFree !== null && (
              <Text c="dimmed">{t('data.diskFree', { size: format.bytes(info.diskFree) })}</Text>
            )}
          </Group>
        )}
      </Stack>
      <Backups info={info} />
      <ExportSection nativeDialogs={info?.nativeDialogs ?? false} />
    </>
  );
}

function Backups({ info }: { info: AppInfo | undefined }) {
  const { t } = useTranslation('settings');
  const format = useFormat();
  const { data: backups } = useCall('app.backups');
  const backup = useAction('app.backup');
  const restore = useRestore();
  const backUp = (): void =>
    backup.mutate(
      {},
      {
        onError: notifyFailure,
        onSuccess: ({ path, bytes }) => notifyInfo(t('data.backupDone', { path, size: format.bytes(bytes) })),
      },
    );
  return (
    <Stack gap="sm">
      <div>
        <Text fw={500}>{t('data.backup')}</Text>
        <Text c="dimmed">{t('data.backupHelp')}</Text>
      </div>
      <Group gap="xs">
        <Button size="xs" onClick={backUp} loading={backup.isPending}>
          {t('data.backupNow')}
        </Button>
        <RestoreFromFile nativeDialogs={info?.nativeDialogs ?? false} onChoose={restore} />
      </Group>
      <BackupProgress />
      {info?.restoreWaiting && <RestoreWaiting restarts={info.restarts} />}
      {backups?.length === 0 && <Text c="dimmed">{t('data.none')}</Text>}
      {backups?.map((entry) => (
        <BackupLine key={entry.path} backup={entry} onRestore={() => restore(entry.path)} />
      ))}
    </Stack>
  );
}

/** Shown until the restart that applies the backup. */
function RestoreWaiting({ restarts }: { restarts: boolean }) {
  const { t } = useTranslation('settings');
  const restart = useAction('app.restart');
  return (
    <Alert color="blue" role="status" title={t('data.restoreReady')}>
      <Text>{t(restarts ? 'data.restoreNext' : 'data.restoreNextByHand')}</Text>
      {restarts && (
        <Button
          size="xs"
          mt="xs"
          loading={restart.isPending}
          onClick={() => restart.mutate({}, { onError: notifyFailure })}
        >
          {t('data.restartNow')}
        </Button>
      )}
    </Alert>
  );
}

/** Also shows a backup that another window requested, or that a restore starts with. */
function BackupProgress() {
  const { t } = useTranslation('settings');
  const format = useFormat();
  const [share, setShare] = useState<number>();
  useEvent('backups.progress', ({ done, total }) => setShare(done / Math.max(1, total)));
  useEvent('backups.changed', () => setShare(undefined));
  if (share === undefined) return null;
  return (
    <div role="status">
      <Progress size="sm" value={share * 100} aria-label={t('data.backup')} />
      <Text c="dimmed" mt={4}>
        {t('data.backingUp', { share: format.percent(share) })}
      </Text>
    </div>
  );
}

function BackupLine({ backup, onRestore }: { backup: Backup; onRestore: () => void }) {
  const { t } = useTranslation('settings');
  const format = useFormat();
  return (
    <Paper withBorder p="sm">
      <Group justify="space-between" wrap="nowrap">
        <div style={{ minWidth: 0 }}>
          <Text truncate title={backup.path}>
            {backup.path.split(/[\\/]/).at(-1)}
          </Text>
          <Subtext>
            {format.ago(backup.createdMs)} · {format.bytes(backup.bytes)}
          </Subtext>
        </div>
        <Button size="xs" variant="default" onClick={onRestore}>
          {t('data.restore')}
        </Button>
      </Group>
    </Paper>
  );
}

/** The host's dialog if there is one, otherwise an upload. */
function RestoreFromFile({
  nativeDialogs,
  onChoose,
}: {
  nativeDialogs: boolean;
  onChoose: (path: string) => void;
}) {
  const { t } = useTranslation('settings');
  const client = useClient();
  const label = t('data.restoreFile');
  if (nativeDialogs) {
    const choose = async (): Promise<void> => {
      const { paths } = await client.call('app.choosePaths', { kind: 'backup' });
      if (paths[0] !== undefined) onChoose(paths[0]);
    };
    return (
      <Button size="xs" variant="default" onClick={() => void choose().catch(notifyFailure)}>
        {label}
      </Button>
    );
  }
  const upload = async (file: File): Promise<void> =>
    onChoose((await client.upload(file, { target: { backup: true } })).path);
  return (
    <FileButton onChange={(file) => file && void upload(file).catch(notifyFailure)}>
      {(props) => (
        <Button {...props} size="xs" variant="default">
          {label}
        </Button>
      )}
    </FileButton>
  );
}

function useRestore(): (path: string) => void {
  const { t } = useTranslation('settings');
  const restore = useAction('app.restore');
  return (path) => {
    askToConfirm({
      title: t('data.restoreTitle'),
      text: [t('data.restoreText', { path })],
      confirm: t('data.restore'),
      onConfirm: () => restore.mutate({ path }, { onError: notifyFailure }),
    });
  };
}
