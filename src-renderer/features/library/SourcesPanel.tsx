import { ActionIcon, Code, Group, Paper, Stack, Switch, Text } from '@mantine/core';
import { IconFile, IconFolder, IconMessageQuestion, IconTrash, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { LibraryInfo, SourceRoot } from '../../../src-shared/contract/libraries.ts';
import { useLocation } from 'wouter';
import { useAction, useCall, useClient } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { IconButton } from '../../ui/IconButton.tsx';
import { Subtext } from '../../ui/Subtext.tsx';
import { askAddress } from '../../ui/ask-address.ts';
import { askToConfirm } from '../../ui/confirm.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import classes from './Library.module.css';

const ICONS = { folder: IconFolder, file: IconFile, managed: IconUpload } as const;

/** A library's sources: folders, single files, uploads. */
export function SourcesPanel({ library }: { library: LibraryInfo }) {
  const { t } = useTranslation(['library', 'common']);
  const rescan = useAction('libraries.rescan');
  return (
    <Stack gap="xs" className={classes.sources}>
      {library.roots.length === 0 && (
        <Text size="md" c="dimmed">
          {t('sources.none')}
        </Text>
      )}
      {library.roots.map((root) => (
        <Source
          key={root.id}
          libraryId={library.id}
          root={root}
          onRetry={() => rescan.mutate({ id: library.id })}
        />
      ))}
    </Stack>
  );
}

function Source({ libraryId, root, onRetry }: { libraryId: string; root: SourceRoot; onRetry: () => void }) {
  const { t } = useTranslation(['library', 'common']);
  const setWatched = useAction('libraries.setWatched');
  const removeRoot = useAction('libraries.removeRoot');
  const client = useClient();
  const [, navigate] = useLocation();
  const { id: rootId, kind, path, watched, failure } = root;
  const Icon = ICONS[kind];
  const ask = async (): Promise<void> => {
    try {
      const { ids } = await client.call('documents.below', { libraryId, paths: [path] });
      if (ids.length > 0) navigate(askAddress({ documentIds: ids }));
      else notifyInfo(t('sources.nothingToAsk'));
    } catch (error) {
      notifyFailure(error);
    }
  };
  const askRemove = (): void => {
    askToConfirm({
      title: t('sources.removeTitle'),
      text: [kind === 'managed' ? t('sources.removeManaged') : t('sources.removeText', { path })],
      confirm: t('common:action.remove'),
      danger: true,
      onConfirm: () => removeRoot.mutate({ id: libraryId, rootId }, { onError: notifyFailure }),
    });
  };
  return (
    <Paper withBorder px="md" py="sm">
      <Group wrap="nowrap" gap="md">
        <Icon size={20} stroke={1.6} aria-label={t(`sources.${kind}`)} />
        <div className={classes.sourceText}>
          <Code className={classes.sourcePath} title={path}>
            {path}
          </Code>
          {kind === 'managed' && <Subtext>{t('sources.managedText')}</Subtext>}
        </div>
        {kind !== 'managed' && (
          <Switch
            size="sm"
            label={t('sources.watched')}
            aria-label={t('sources.watchHelp', { path })}
            checked={watched}
            onChange={(event) =>
              setWatched.mutate(
                { id: libraryId, rootId, watched: event.currentTarget.checked },
                { onError: notifyFailure },
              )
            }
          />
        )}
        <IconButton
          label={`${t('sources.ask')}: ${path}`}
          tip={t('sources.ask')}
          color="kvasir"
          onClick={() => void ask()}
        >
          <IconMessageQuestion size={17} />
        </IconButton>
        <ActionIcon color="red" aria-label={t('sources.remove', { path })} onClick={askRemove}>
          <IconTrash size={17} />
        </ActionIcon>
      </Group>
      {root.skipped > 0 && <Skipped libraryId={libraryId} root={root} />}
      {failure && (
        <div className={classes.sourceFailure}>
          <FailureAlert failure={failure} onRetry={onRetry} />
        </div>
      )}
    </Paper>
  );
}

/** Skipped files of a folder, each with the reason; loaded on demand. */
function Skipped({ libraryId, root }: { libraryId: string; root: SourceRoot }) {
  const { t } = useTranslation('library');
  const [open, setOpen] = useState(false);
  const { data } = useCall('libraries.skipped', { id: libraryId, rootId: root.id }, { enabled: open });
  const more = data ? data.total - data.files.length : 0;
  return (
    <details className={classes.skipped} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{t('sources.skipped', { count: root.skipped })}</summary>
      <ul>
        {data?.files.map(({ path, reason }) => (
          <li key={path}>
            <strong>{path}</strong> {t(`sources.skippedReason.${reason}`)}
          </li>
        ))}
      </ul>
      {more > 0 && t('sources.skippedMore', { count: more })}
    </details>
  );
}
