import { Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CacheDocument } from '../../../src-shared/contract/cache.ts';
import type { ParsedInputOf } from '../../../src-shared/contract/contract.ts';
import { useColumnKinds } from '../../ui/useColumnKinds.ts';
import { useFormat } from '../../ui/useFormat.ts';
import { usePagedRows } from '../../ui/usePagedRows.ts';
import { VirtualTable } from '../../ui/VirtualTable.tsx';
import type { Column, Sorting } from '../../ui/VirtualTableParts.tsx';
import type { SelectionProps } from './selection.ts';
import { PinToggle } from './PinToggle.tsx';
import classes from './Cache.module.css';

type Sort = ParsedInputOf<'cache.documents'>['sort'];

export function DocumentTable({
  search,
  selected,
  onSelect,
  onOpen,
}: SelectionProps & { onOpen: (document: { id: string; name: string }) => void }) {
  const { t } = useTranslation('cache');
  const [sorting, setSorting] = useState<Sorting<Sort>>({ by: 'bytes', descending: true });
  const { by: sort, descending } = sorting;
  const rows = usePagedRows('cache.documents', { search, sort, descending });
  const columns = useColumns();
  return (
    <VirtualTable
      label={t('table.documents')}
      rows={rows}
      columns={columns}
      keyOf={({ documentId }) => documentId ?? ''}
      sorting={sorting}
      onSort={setSorting}
      selected={selected}
      // Chunks that no longer belong to a document have no document id to select; they can be evicted by chunk.
      onSelect={(keys) => onSelect(new Set([...keys].filter((key) => key !== '')))}
      onOpen={({ documentId, document }) => {
        if (documentId !== null) onOpen({ id: documentId, name: document });
      }}
      view={`${search}\n${sort}\n${descending}`}
      empty={
        <Text size="md" c="dimmed">
          {t('table.noneMatch')}
        </Text>
      }
    />
  );
}

function useColumns(): Column<CacheDocument, Sort>[] {
  const { t } = useTranslation(['cache', 'common']);
  const { number, bytes, ago } = useColumnKinds();
  return useMemo(
    () => [
      {
        id: 'document',
        header: t('common:table.document'),
        width: 'minmax(140px, 1fr)',
        sort: 'document',
        cell: (row) => <DocumentName id={row.documentId} name={row.document} />,
      },
      number(
        { id: 'chunks', header: t('table.chunkCount'), width: '68px', sort: 'chunks' },
        (row) => row.chunks,
      ),
      bytes(
        { id: 'bytes', header: t('common:table.size'), width: '76px', sort: 'bytes' },
        (row) => row.bytes,
      ),
      bytes({ id: 'ram', header: t('table.ram'), width: '84px', from: 640 }, (row) => row.ramBytes || null),
      number({ id: 'hits', header: t('common:table.hits'), width: '60px', sort: 'hits' }, (row) => row.hits),
      ago(
        { id: 'lastUsed', header: t('common:table.lastUsed'), width: '116px', from: 770, sort: 'lastUsed' },
        (row) => row.lastUsedMs,
        t('common:table.never'),
      ),
      {
        id: 'pin',
        header: t('common:action.pin'),
        width: '44px',
        cell: (row, active) => <DocumentPin row={row} active={active} />,
      },
    ],
    [t, number, bytes, ago],
  );
}

export function DocumentName({ id, name }: { id: string | null; name: string }) {
  const { t } = useTranslation('cache');
  if (id !== null) return <span title={name}>{name}</span>;
  return (
    <span className={classes.gone} title={t('table.goneHelp')}>
      {t('table.gone')}
    </span>
  );
}

function DocumentPin({ row, active }: { row: CacheDocument; active: boolean }) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const { documentId, document, pinnedChunks, chunks } = row;
  if (documentId === null) return null;
  const partly = pinnedChunks > 0 && pinnedChunks < chunks;
  return (
    <PinToggle
      name={document}
      selection={{ documentIds: [documentId] }}
      pinned={partly ? undefined : pinnedChunks > 0}
      title={
        partly
          ? t('table.partly', { pinned: format.number(pinnedChunks), total: format.number(chunks) })
          : undefined
      }
      active={active}
    />
  );
}
