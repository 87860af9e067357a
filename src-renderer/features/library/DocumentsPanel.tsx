import { Button, CloseButton, SegmentedControl, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  IconFileOff,
  IconFiles,
  IconListSearch,
  IconMessageQuestion,
  IconSearch,
  IconTrash,
} from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'wouter';
import type { ParsedInputOf } from '../../../src-shared/contract/contract.ts';
import type { LibraryInfo } from '../../../src-shared/contract/libraries.ts';
import { askAddress } from '../../ui/ask-address.ts';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { usePagedRows } from '../../ui/usePagedRows.ts';
import { VirtualTable } from '../../ui/VirtualTable.tsx';
import type { Sorting } from '../../ui/VirtualTableParts.tsx';
import { AddButtons } from './AddButtons.tsx';
import { documentAddress } from './document-address.ts';
import type { AddDocuments } from './useAddDocuments.ts';
import { useDocumentActions } from './useDocumentActions.ts';
import { useDocumentColumns, type DocumentSort } from './useDocumentColumns.tsx';
import classes from './Library.module.css';

type DocumentQuery = ParsedInputOf<'documents.list'>;
type Phase = DocumentQuery['phase'];

const PHASES: readonly Phase[] = ['all', 'ready', 'working', 'failed'];
const TYPING_MS = 150;

/** A library's documents, with filter, sorting and bulk actions. */
export function DocumentsPanel({ library, add }: { library: LibraryInfo; add: AddDocuments }) {
  const { t } = useTranslation(['library', 'common']);
  const [, navigate] = useLocation();
  const [search, setSearch] = useState('');
  const [phase, setPhase] = useState<Phase>('all');
  const [sorting, setSorting] = useState<Sorting<DocumentSort>>({ by: 'title', descending: false });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [typed] = useDebouncedValue(search, TYPING_MS);
  const { by: sort, descending } = sorting;
  const rows = usePagedRows('documents.list', {
    libraryId: library.id,
    search: typed,
    phase,
    sort,
    descending,
  });
  const columns = useDocumentColumns();
  const filtered = search !== '' || phase !== 'all';
  const showAll = (): void => {
    setSearch('');
    setPhase('all');
  };
  return (
    <Stack gap={10} h="100%" mih={0}>
      <div className={classes.toolbar}>
        {selected.size > 0 ? (
          <SelectionBar selected={selected} onClear={() => setSelected(new Set())} />
        ) : (
          <Filter search={search} onSearch={setSearch} phase={phase} onPhase={setPhase} />
        )}
      </div>
      <div className={classes.table}>
        <VirtualTable
          label={t('documents.label', { name: library.name })}
          rows={rows}
          columns={columns}
          keyOf={({ id }) => id}
          rowHeight={52}
          sorting={sorting}
          onSort={setSorting}
          selected={selected}
          onSelect={setSelected}
          onOpen={({ id }) => navigate(documentAddress(id))}
          view={`${typed}\n${phase}\n${sort}\n${descending}`}
          empty={filtered ? <NoneMatch onShowAll={showAll} /> : <NoDocuments add={add} />}
        />
      </div>
    </Stack>
  );
}

function Filter({
  search,
  onSearch,
  phase,
  onPhase,
}: {
  search: string;
  onSearch: (search: string) => void;
  phase: Phase;
  onPhase: (phase: Phase) => void;
}) {
  const { t } = useTranslation(['library', 'common']);
  return (
    <>
      <TextInput
        size="xs"
        w={240}
        type="search"
        leftSection={<IconSearch size={15} />}
        placeholder={t('documents.search')}
        aria-label={t('documents.search')}
        value={search}
        onChange={(event) => onSearch(event.currentTarget.value)}
      />
      <SegmentedControl<Phase>
        size="xs"
        aria-label={t('documents.show')}
        data={PHASES.map((value) => ({ value, label: t(`documents.filter.${value}`) }))}
        value={phase}
        onChange={onPhase}
      />
    </>
  );
}

/** Replaces the filter while documents are selected. */
function SelectionBar({ selected, onClear }: { selected: ReadonlySet<string>; onClear: () => void }) {
  const { t } = useTranslation(['library', 'common']);
  const { retry, askRemove } = useDocumentActions();
  const ids = [...selected];
  return (
    <>
      <CloseButton size="sm" aria-label={t('common:action.clear')} onClick={onClear} />
      <Text fw={600} role="status">
        {t('documents.selected', { count: selected.size })}
      </Text>
      <Button
        component={Link}
        href={askAddress({ documentIds: ids })}
        size="compact-sm"
        variant="light"
        leftSection={<IconMessageQuestion size={15} aria-hidden />}
      >
        {t('documents.ask', { count: ids.length })}
      </Button>
      {ids.length === 1 && (
        <Button
          component={Link}
          href={`/analysis/new?document=${encodeURIComponent(ids[0] ?? '')}`}
          size="compact-sm"
          variant="default"
          leftSection={<IconListSearch size={15} aria-hidden />}
        >
          {t('document.analyse')}
        </Button>
      )}
      <Button size="compact-sm" variant="default" onClick={() => retry(ids)}>
        {t('common:action.retry')}
      </Button>
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        leftSection={<IconTrash size={15} />}
        onClick={() => askRemove(ids, onClear)}
      >
        {t('documents.remove')}
      </Button>
    </>
  );
}

function NoDocuments({ add }: { add: AddDocuments }) {
  const { t } = useTranslation(['library', 'common']);
  return (
    <EmptyState icon={<IconFiles size={30} />} title={t('drop.emptyTitle')} text={t('drop.emptyText')}>
      <div className={classes.toolbar}>
        <AddButtons add={add} />
      </div>
    </EmptyState>
  );
}

function NoneMatch({ onShowAll }: { onShowAll: () => void }) {
  const { t } = useTranslation(['library', 'common']);
  return (
    <EmptyState
      icon={<IconFileOff size={30} />}
      title={t('common:noDocument')}
      text={t('documents.noneMatchText')}
    >
      <Button variant="default" size="xs" onClick={onShowAll}>
        {t('documents.showAll')}
      </Button>
    </EmptyState>
  );
}
