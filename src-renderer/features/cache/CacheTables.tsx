import { Button, CloseButton, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { CacheSelection } from '../../../src-shared/contract/cache.ts';
import { useAction } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { ChunkTable } from './ChunkTable.tsx';
import { DocumentTable } from './DocumentTable.tsx';
import { useEvict } from './useEvict.ts';
import classes from './Cache.module.css';

const VIEWS = ['documents', 'chunks'] as const;
type View = (typeof VIEWS)[number];
const TYPING_MS = 150;

/** Stored chunks, by document or by chunk, with actions on several rows. */
export function CacheTables() {
  const { t } = useTranslation('cache');
  const [view, setView] = useState<View>('documents');
  const [only, setOnly] = useState<{ id: string; name: string }>();
  const [search, setSearch] = useState('');
  const [typed] = useDebouncedValue(search, TYPING_MS);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const show = (next: View, document?: { id: string; name: string }): void => {
    setView(next);
    setOnly(document);
    setSelected(new Set());
  };
  const keys = [...selected];
  const props = { search: typed, selected, onSelect: setSelected };
  return (
    <Stack gap={10} miw={0} mih={0} component="section" aria-label={t(`table.${view}`)}>
      <div className={classes.toolbar}>
        {keys.length > 0 ? (
          <SelectionBar
            selection={view === 'chunks' ? { keys } : { documentIds: keys }}
            count={keys.length}
            onClear={() => setSelected(new Set())}
          />
        ) : (
          <>
            <SegmentedControl<View>
              size="xs"
              aria-label={t('views.label')}
              data={VIEWS.map((value) => ({ value, label: t(`views.${value}`) }))}
              value={view}
              onChange={(next) => show(next)}
            />
            <TextInput
              size="xs"
              w={220}
              type="search"
              leftSection={<IconSearch size={15} />}
              placeholder={t('table.search')}
              aria-label={t('table.search')}
              value={search}
              onChange={(event) => setSearch(event.currentTarget.value)}
            />
            {only && <Only name={only.name} onClear={() => setOnly(undefined)} />}
          </>
        )}
      </div>
      <div className={classes.table}>
        {view === 'documents' ? (
          <DocumentTable {...props} onOpen={(document) => show('chunks', document)} />
        ) : (
          <ChunkTable {...props} documentId={only?.id} />
        )}
      </div>
    </Stack>
  );
}

function Only({ name, onClear }: { name: string; onClear: () => void }) {
  const { t } = useTranslation('cache');
  return (
    <span className={classes.only}>
      <span title={name}>{t('table.only', { document: name })}</span>
      <CloseButton size="xs" aria-label={t('table.showAll')} onClick={onClear} />
    </span>
  );
}

function SelectionBar({
  selection,
  count,
  onClear,
}: {
  selection: CacheSelection;
  count: number;
  onClear: () => void;
}): ReactNode {
  const { t } = useTranslation(['cache', 'common']);
  const evict = useEvict();
  const pin = useAction('cache.pin');
  const setPinned = (pinned: boolean): void => pin.mutate({ selection, pinned }, { onError: notifyFailure });
  return (
    <>
      <CloseButton size="sm" aria-label={t('common:action.clear')} onClick={onClear} />
      <Text fw={600} role="status">
        {t('selected', { count })}
      </Text>
      <Button size="compact-sm" variant="default" onClick={() => setPinned(true)}>
        {t('common:action.pin')}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => setPinned(false)}>
        {t('common:action.unpin')}
      </Button>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        onClick={() => evict.askSelected(selection, count, onClear)}
      >
        {t('evict.confirm')}
      </Button>
    </>
  );
}
