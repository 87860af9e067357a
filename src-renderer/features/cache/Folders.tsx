import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CacheFolder, CacheFolders } from '../../../src-shared/contract/cache.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { openDialog } from '../../ui/dialog.ts';
import { Meter } from '../../ui/Meter.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { FolderForm } from './FolderForm.tsx';
import { fittingBytes } from './folders.ts';
import { Section } from './Section.tsx';

/** Folders for stored KV besides the data folder, and which of them new chunks go to. */
export function Folders() {
  const { t } = useTranslation('cache');
  const { data } = useCall('cache.folders');
  if (!data) return null;
  const [own, ...added] = data.folders;
  const add = (): void => {
    openDialog(t('folders.addTitle'), (close) => <FolderForm onDone={close} />);
  };
  return (
    <Section title={t('folders.title')}>
      <Text size="xs" c="dimmed">
        {added.length === 0 ? t('folders.help') : <Placement folders={data} />}
      </Text>
      {own && added.length > 0 && <Figures folder={own} />}
      {added.map((folder) => (
        <Folder key={folder.id} folder={folder} all={data.folders} />
      ))}
      <Button size="compact-sm" variant="default" w="fit-content" onClick={add}>
        {t('folders.add')}
      </Button>
    </Section>
  );
}

function Placement({ folders: { folders, newChunks } }: { folders: CacheFolders }) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const folder = folders.find(({ id }) => id === newChunks.folder);
  return t(`folders.reason.${newChunks.reason}`, {
    folder: folder?.id === '' ? t('folders.ownInText') : folder?.path,
    load: format.duration(folder?.loadMs ?? 0),
    compute: format.duration(newChunks.computeMs ?? 0),
  });
}

/** Speed, price and state. */
function Figures({ folder }: { folder: CacheFolder }) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const { state, problem, freeBytes, bytesPerSecond, pricePerGb } = folder;
  const figures = [
    state !== 'ready' && t(`folders.state.${state}`),
    problem,
    bytesPerSecond !== null && t('folders.speed', { speed: format.bytes(bytesPerSecond) }),
    freeBytes !== null && t('diskFree', { size: format.bytes(freeBytes) }),
    pricePerGb !== null && t('folders.price', { price: format.number(pricePerGb, 4) }),
  ].filter((figure) => figure !== false && figure !== '');
  return (
    <Text size="xs" c="dimmed">
      {[folder.id === '' && t('folders.own'), ...figures].filter(Boolean).join(' · ')}
    </Text>
  );
}

function Folder({ folder, all }: { folder: CacheFolder; all: readonly CacheFolder[] }) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const { path, bytes, budgetBytes } = folder;
  const value = t('ofBudget', { used: format.bytes(bytes), budget: format.bytes(budgetBytes) });
  const askRemove = useRemove(folder, all);
  const change = (): void => {
    openDialog(path, (close) => <FolderForm folder={folder} onDone={close} />);
  };
  return (
    <div>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {path}
      </Text>
      <Text size="xs">{value}</Text>
      <Meter
        share={budgetBytes > 0 ? bytes / budgetBytes : 0}
        label={`${path}: ${value}`}
        color="var(--kv-disk)"
      />
      <Figures folder={folder} />
      <Group gap="xs" mt={4}>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('folders.changeOf', { path })}
          onClick={change}
        >
          {t('folders.change')}
        </Button>
        <Button
          size="compact-sm"
          variant="default"
          aria-label={t('folders.removeOf', { path })}
          onClick={askRemove}
        >
          {t('folders.remove')}
        </Button>
      </Group>
    </div>
  );
}

/** Says what becomes of the folder's chunks, then removes it. */
function useRemove(folder: CacheFolder, all: readonly CacheFolder[]): () => void {
  const { t } = useTranslation(['cache', 'common']);
  const format = useFormat();
  const remove = useAction('cache.removeFolder');
  const { id, path, chunks, bytes, state } = folder;
  const what = {
    chunks: t('common:unit.chunks', { count: chunks }),
    size: format.bytes(bytes),
    fitting: format.bytes(fittingBytes(folder, all)),
  };
  const whenThere = chunks === 0 ? 'removeEmpty' : 'removeText';
  const consequence = state === 'ready' ? whenThere : 'removeAway';
  return () =>
    askToConfirm({
      title: t('folders.removeTitle', { path }),
      text: [t(`folders.${consequence}`, what)],
      confirm: t('folders.removeConfirm'),
      danger: true,
      onConfirm: () =>
        remove.mutate(
          { id, deletePinned: true }, // the text says so
          { onError: notifyFailure, onSuccess: (done) => notifyInfo(t('folders.removed', done)) },
        ),
    });
}
