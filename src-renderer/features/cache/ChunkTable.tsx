import { Badge, Group, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { CacheEntry } from '../../../src-shared/contract/cache.ts';
import type { ParsedInputOf } from '../../../src-shared/contract/contract.ts';
import { useColumnKinds } from '../../ui/useColumnKinds.ts';
import { useFormat } from '../../ui/useFormat.ts';
import { usePagedRows } from '../../ui/usePagedRows.ts';
import { VirtualTable } from '../../ui/VirtualTable.tsx';
import type { Column, Sorting } from '../../ui/VirtualTableParts.tsx';
import type { SelectionProps } from './selection.ts';
import { DocumentName } from './DocumentTable.tsx';
import { PinToggle } from './PinToggle.tsx';
import classes from './Cache.module.css';

type Sort = ParsedInputOf<'cache.entries'>['sort'];

export function ChunkTable({
  search,
  selected,
  onSelect,
  documentId,
}: SelectionProps & { documentId: string | undefined }) {
  const { t } = useTranslation('cache');
  const [sorting, setSorting] = useState<Sorting<Sort>>({ by: 'document', descending: false });
  const { by: sort, descending } = sorting;
  const rows = usePagedRows('cache.entries', {
    search,
    sort,
    descending,
    ...(documentId !== undefined && { documentId }),
  });
  const columns = useColumns();
  return (
    <VirtualTable
      label={t('table.chunks')}
      rows={rows}
      columns={columns}
      keyOf={({ key }) => key}
      rowHeight={36}
      sorting={sorting}
      onSort={setSorting}
      selected={selected}
      onSelect={onSelect}
      view={`${search}\n${documentId ?? ''}\n${sort}\n${descending}`}
      empty={
        <Text size="md" c="dimmed">
          {t('table.noneMatch')}
        </Text>
      }
    />
  );
}

function useColumns(): Column<CacheEntry, Sort>[] {
  const { t } = useTranslation(['cache', 'common']);
  const format = useFormat();
  const { number, bytes, ago } = useColumnKinds();
  return useMemo(
    () => [
      {
        id: 'document',
        header: t('common:table.document'),
        width: 'minmax(140px, 1fr)',
        sort: 'document',
        cell: (entry) => (
          <>
            {!entry.current && (
              <Badge size="xs" variant="default" tt="none" mr={6}>
                {t('table.otherModel')}
              </Badge>
            )}
            <DocumentName id={entry.documentId} name={entry.document} />
          </>
        ),
      },
      number({ id: 'chunk', header: t('table.chunk'), width: '60px' }, ({ ordinal }) =>
        ordinal === null ? null : ordinal + 1,
      ),
      number(
        { id: 'tokens', header: t('common:table.tokens'), width: '64px', sort: 'tokens', from: 700 },
        (row) => row.tokens,
      ),
      bytes(
        { id: 'bytes', header: t('common:table.size'), width: '76px', sort: 'bytes' },
        (row) => row.bytes,
      ),
      {
        id: 'dtype',
        header: t('precision.title'),
        width: '72px',
        from: 920,
        cell: ({ dtype }) => dtype,
      },
      {
        id: 'tier',
        header: t('table.tier'),
        width: '84px',
        cell: ({ state, away }) => (
          <Group gap={7} wrap="nowrap" component="span">
            <span className={classes.dot} data-tier={state} />
            {away ? t('table.away') : t(`table.tiers.${state}`)}
          </Group>
        ),
      },
      number(
        { id: 'hits', header: t('common:table.hits'), width: '60px', sort: 'hits', from: 620 },
        (row) => row.hits,
      ),
      ago(
        { id: 'lastUsed', header: t('common:table.lastUsed'), width: '116px', from: 830, sort: 'lastUsed' },
        (row) => row.lastUsedMs,
        t('common:table.never'),
      ),
      {
        id: 'pin',
        header: t('common:action.pin'),
        width: '44px',
        cell: ({ key, document, ordinal, pinned }, active) => (
          <PinToggle
            name={`${document} ${ordinal === null ? '' : format.number(ordinal + 1)}`}
            selection={{ keys: [key] }}
            pinned={pinned}
            active={active}
          />
        ),
      },
    ],
    [t, format, number, bytes, ago],
  );
}
