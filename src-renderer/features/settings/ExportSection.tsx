import { Button, Group, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ExportReport } from '../../../src-shared/contract/app.ts';
import { useAction, useClient, useEvent } from '../../client/context.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';

/** Writes everything in open formats to a folder: chosen in the host's dialog, or typed if there is none. */
export function ExportSection({ nativeDialogs }: { nativeDialogs: boolean }) {
  const { t } = useTranslation(['settings', 'common']);
  const client = useClient();
  const exporting = useAction('app.export');
  const told = useReport();
  const [folder, setFolder] = useState('');
  const write = (to: string): void => exporting.mutate({ to }, { onError: notifyFailure, onSuccess: told });
  const choose = async (): Promise<void> => {
    const { paths } = await client.call('app.choosePaths', { kind: 'folder' });
    if (paths[0] !== undefined) write(paths[0]);
  };
  return (
    <Stack gap="sm" component="section" aria-label={t('data.export')}>
      <div>
        <Text fw={500}>{t('data.export')}</Text>
        <Text c="dimmed">{t('data.exportHelp')}</Text>
      </div>
      {!nativeDialogs && (
        <TextInput
          size="sm"
          label={t('data.exportFolder')}
          description={t('data.exportFolderHelp')}
          value={folder}
          onChange={(event) => setFolder(event.currentTarget.value)}
        />
      )}
      <Group gap="xs">
        <Button
          size="xs"
          variant="default"
          loading={exporting.isPending}
          disabled={!nativeDialogs && folder.trim() === ''}
          onClick={() => (nativeDialogs ? void choose().catch(notifyFailure) : write(folder.trim()))}
        >
          {t('data.exportNow')}
        </Button>
      </Group>
      <ExportProgress />
    </Stack>
  );
}

/** Tells where the export is and, if originals are missing, which. */
function useReport(): (report: ExportReport) => void {
  const { t } = useTranslation('settings');
  const format = useFormat();
  return ({ path, bytes, incomplete, named }) => {
    const done = t('data.exportDone', { path, size: format.bytes(bytes) });
    const first = named[0];
    const missing = first ? ` ${t('data.exportIncomplete', { count: incomplete, path: first.path })}` : '';
    notifyInfo(done + missing);
  };
}

/** Also shows an export that another window or a command requested. */
function ExportProgress() {
  const { t } = useTranslation(['settings', 'common']);
  const format = useFormat();
  const stop = useAction('app.stopExport');
  const [share, setShare] = useState<number>();
  useEvent('exports.progress', ({ done, total }) => setShare(done / Math.max(1, total)));
  useEvent('exports.changed', () => setShare(undefined));
  if (share === undefined) return null;
  return (
    <div role="status">
      <Progress size="sm" value={share * 100} aria-label={t('data.export')} />
      <Group justify="space-between" mt={4}>
        <Text c="dimmed">{t('data.exporting', { share: format.percent(share) })}</Text>
        <Button size="compact-xs" variant="subtle" onClick={() => stop.mutate({})}>
          {t('common:action.cancel')}
        </Button>
      </Group>
    </div>
  );
}
