import { Button, Group, Menu } from '@mantine/core';
import { IconDownload, IconPlayerPlay, IconPlayerStop, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import type { Analysis } from '../../../src-shared/contract/analysis.ts';
import { useAction, useClient } from '../../client/context.tsx';
import { IconButton } from '../../ui/IconButton.tsx';
import { useCommands } from '../../ui/commands.ts';
import { askToConfirm } from '../../ui/confirm.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { saveFile } from '../../viz/save.ts';

export function AnalysisActions({ analysis }: { analysis: Analysis }) {
  const { t } = useTranslation(['analysis', 'common']);
  const { id, state, kind, stepsDone, stepsFailed, steps } = analysis;
  const stop = useAction('analysis.stop');
  const resume = useAction('analysis.resume');
  const busy = state === 'waiting' || state === 'running';
  const unfinished = !busy && (stepsDone < steps.length || stepsFailed > 0 || state !== 'done');
  const end = (): void => stop.mutate({ id }, { onError: notifyFailure });
  const goOn = (): void => resume.mutate({ id }, { onError: notifyFailure });
  useCommands([
    ...(busy ? [{ id: 'analysis-stop', label: t('common:action.stop'), run: end }] : []),
    ...(unfinished ? [{ id: 'analysis-resume', label: t('common:action.continue'), run: goOn }] : []),
  ]);
  return (
    <Group gap="xs" wrap="nowrap">
      {busy && (
        <Button
          variant="default"
          loading={stop.isPending}
          leftSection={<IconPlayerStop size={16} aria-hidden />}
          onClick={end}
        >
          {t('common:action.stop')}
        </Button>
      )}
      {unfinished && (
        <Button
          loading={resume.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={goOn}
        >
          {t('common:action.continue')}
        </Button>
      )}
      {stepsDone > 0 && (
        <Export id={id} formats={kind === 'questions' ? ['csv', 'markdown', 'json'] : ['markdown', 'json']} />
      )}
      <Delete id={id} />
    </Group>
  );
}

type Format = 'markdown' | 'json' | 'csv';

function Export({ id, formats }: { id: string; formats: readonly Format[] }) {
  const { t } = useTranslation(['analysis', 'common']);
  const client = useClient();
  const save = (format: Format): void => {
    client.call('analysis.export', { id, format }).then(({ fileName, mediaType, content }) => {
      saveFile(fileName, new Blob([content], { type: mediaType }));
      notifyInfo(t('view.exported', { name: fileName }));
    }, notifyFailure);
  };
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
          {t('common:action.export')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {formats.map((format) => (
          <Menu.Item key={format} onClick={() => save(format)}>
            {t(`view.${format}`)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

function Delete({ id }: { id: string }) {
  const { t } = useTranslation(['analysis', 'common']);
  const [, navigate] = useLocation();
  const remove = useAction('analysis.delete');
  const ask = (): void => {
    askToConfirm({
      title: t('view.deleteTitle'),
      text: [t('view.deleteText')],
      confirm: t('common:action.delete'),
      danger: true,
      onConfirm: () =>
        remove.mutate({ id }, { onSuccess: () => navigate('/analysis'), onError: notifyFailure }),
    });
  };
  return (
    <IconButton label={t('common:action.delete')} variant="default" size={36} onClick={ask}>
      <IconTrash size={17} aria-hidden />
    </IconButton>
  );
}
