import { Group, Loader, Select, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Range } from '../../../../src-shared/contract/common.ts';
import type { OutputOf } from '../../../../src-shared/contract/contract.ts';
import type { DocumentInfo, SheetRow } from '../../../../src-shared/contract/libraries.ts';
import { columnName } from '../../../../src-shared/sheets.ts';
import { useCall } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { useColumnKinds } from '../../../ui/useColumnKinds.ts';
import { usePagedRows } from '../../../ui/usePagedRows.ts';
import { VirtualTable } from '../../../ui/VirtualTable.tsx';
import type { Column } from '../../../ui/VirtualTableParts.tsx';
import classes from './Document.module.css';

type SheetPage = OutputOf<'documents.rows'>;

/** Rows that decide how wide the columns are. */
const SAMPLE_ROWS = 50;
const [MIN_PX, MAX_PX, LETTER_PX] = [56, 320, 8];
const NUMBER_PX = 56;
const GAP_PX = 18;
const PADDING_PX = 28;

/** The sheets of a workbook or a CSV file as grids; the rows of the passage are marked. */
export function GridView({ document, passage }: { document: DocumentInfo; passage: Range | undefined }) {
  const { t } = useTranslation(['library', 'common']);
  const [chosen, setChosen] = useState<number>();
  const which = {
    id: document.id,
    ...(passage && { passage }),
    ...(chosen !== undefined && { sheet: chosen }),
  };
  const { data: page, error, refetch } = useCall('documents.rows', { ...which, limit: SAMPLE_ROWS });
  if (error) return <FailureAlert failure={error} onRetry={() => void refetch()} />;
  if (!page) return <Loader m="auto" aria-label={t('common:loading')} />;
  const { sheets, sheet, header } = page;
  const { rows = 0, columns = 0 } = sheets[sheet] ?? {};
  return (
    <>
      <Group gap="md">
        {sheets.length > 1 && (
          <Select
            size="xs"
            allowDeselect={false}
            aria-label={t('grid.sheet')}
            data={sheets.map(({ name }, i) => ({ value: String(i), label: name || String(i + 1) }))}
            value={String(sheet)}
            onChange={(value) => setChosen(Number(value))}
          />
        )}
        <Text c="dimmed">
          {t('grid.size', { rows, columns })}
          {columns > header.length && ` ${t('grid.columnsShown', { count: header.length })}`}
        </Text>
      </Group>
      <Grid key={sheet} document={document} page={page} passage={passage} />
    </>
  );
}

function Grid({
  document,
  page,
  passage,
}: {
  document: DocumentInfo;
  page: SheetPage;
  passage: Range | undefined;
}) {
  const { t } = useTranslation('library');
  const { sheet, sheets, header, items, firstMarked } = page;
  const rows = usePagedRows('documents.rows', { id: document.id, sheet, ...(passage && { passage }) });
  const { number } = useColumnKinds();
  const widths = useMemo(() => header.map((name, i) => widthOf(name, items, i)), [header, items]);
  const columns = useMemo<Column<SheetRow>[]>(
    () => [
      number({ id: 'number', header: t('grid.row'), width: `${NUMBER_PX}px` }, (row) => row.number),
      ...header.map((name, i) => ({
        id: String(i),
        header: name || columnName(i),
        // The last one takes the room that is left.
        width: i === header.length - 1 ? `minmax(${px(widths[i])}, 1fr)` : px(widths[i]),
        cell: ({ cells, marked }: SheetRow) => (
          <span title={cells[i]} data-marked={marked || undefined}>
            {cells[i]}
          </span>
        ),
      })),
    ],
    [t, number, header, widths],
  );
  return (
    <div className={classes.fill}>
      <VirtualTable
        label={t('grid.label', { title: document.title, sheet: sheets[sheet]?.name ?? '' })}
        rows={rows}
        columns={columns}
        keyOf={(row) => String(row.number)}
        rowHeight={30}
        target={firstMarked ?? undefined}
        minWidth={widths.reduce((sum, width) => sum + width + GAP_PX, NUMBER_PX + PADDING_PX)}
        empty={t('grid.none')}
      />
    </div>
  );
}

function px(width = MIN_PX): string {
  return `${width}px`;
}

function widthOf(name: string, rows: readonly SheetRow[], column: number): number {
  const longest = Math.max(name.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0));
  return Math.min(MAX_PX, Math.max(MIN_PX, Math.ceil((longest + 1) * LETTER_PX)));
}
