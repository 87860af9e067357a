import { Group } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { ChunkInfo, DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import { useColumnKinds } from '../../../ui/useColumnKinds.ts';
import { usePagedRows } from '../../../ui/usePagedRows.ts';
import { VirtualTable } from '../../../ui/VirtualTable.tsx';
import type { Column } from '../../../ui/VirtualTableParts.tsx';
import classes from './Document.module.css';

/** The chunks of a document as rows. Opening one shows it in the text. */
export function ChunkTable({
  document,
  onOpen,
}: {
  document: DocumentInfo;
  onOpen: (chunk: ChunkInfo) => void;
}) {
  const { t } = useTranslation('library');
  const rows = usePagedRows('documents.chunks', { id: document.id });
  const columns = useChunkColumns(onOpen);
  return (
    <div className={classes.fill}>
      <VirtualTable
        label={t('chunks.label', { title: document.title })}
        rows={rows}
        columns={columns}
        keyOf={({ id }) => id}
        onOpen={onOpen}
        empty={t('chunks.none')}
      />
    </div>
  );
}

function useChunkColumns(onOpen: (chunk: ChunkInfo) => void): Column<ChunkInfo>[] {
  const { t } = useTranslation(['library', 'common']);
  const { number, bytes, ago } = useColumnKinds();
  return useMemo(
    () => [
      number({ id: 'number', header: t('common:table.number'), width: '52px' }, ({ ordinal }) => ordinal + 1),
      {
        id: 'beginning',
        header: t('chunks.beginning'),
        width: 'minmax(160px, 1fr)',
        cell: (chunk, active) => (
          <button
            type="button"
            className={classes.beginning}
            tabIndex={active ? 0 : -1}
            onClick={() => onOpen(chunk)}
          >
            {chunk.text.slice(0, 200)}
          </button>
        ),
      },
      { id: 'page', header: t('chunks.page'), width: '64px', from: 730, cell: ({ page }) => page ?? '–' },
      number({ id: 'tokens', header: t('common:table.tokens'), width: '64px' }, ({ tokens }) => tokens),
      {
        id: 'cache',
        header: t('chunks.cache'),
        width: '108px',
        cell: ({ cache }) => (
          <Group gap={7} wrap="nowrap" component="span">
            <span className={classes.dot} data-tier={cache} />
            {t(`document.cache.${cache}`)}
          </Group>
        ),
      },
      bytes({ id: 'bytes', header: t('common:table.size'), width: '76px' }, (chunk) => chunk.bytes || null),
      number({ id: 'hits', header: t('common:table.hits'), width: '56px' }, ({ hits }) => hits),
      ago(
        { id: 'lastUsed', header: t('common:table.lastUsed'), width: '120px', from: 870 },
        ({ lastUsedMs }) => lastUsedMs,
        t('common:table.never'),
      ),
    ],
    [t, number, bytes, ago, onOpen],
  );
}
