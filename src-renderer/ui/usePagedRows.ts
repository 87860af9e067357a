import { useDebouncedValue } from '@mantine/hooks';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { InputOf, OutputOf, ProcedureName } from '../../src-shared/contract/contract.ts';
import type { KvasirError } from '../../src-shared/errors.ts';
import { useClient } from '../client/context.tsx';
import type { CallArguments, Client } from '../client/client.ts';
import { PAGE_ROWS, pagesAround, windowsOf } from './paging.ts';

/** Procedures that give a window of a long list. */
type PagedProcedure = {
  [P in ProcedureName]: OutputOf<P> extends { total: number; items: readonly unknown[] } ? P : never;
}[ProcedureName];

type RowOf<P extends PagedProcedure> = OutputOf<P> extends { items: readonly (infer Row)[] } ? Row : never;

export interface PagedRows<Row> {
  /** undefined until the first answer. */
  total: number | undefined;
  /** undefined while the row is on its way. */
  rowAt: (index: number) => Row | undefined;
  /** Tells which rows are on the screen; they are fetched and kept up to date. */
  show: (first: number, last: number) => void;
  /** All rows of a range, for actions on rows that were never shown. */
  load: (first: number, last: number) => Promise<Row[]>;
  /** What is shown belongs to an earlier filter or order; the new rows are on their way. */
  stale: boolean;
  failure: KvasirError | null;
  retry: () => void;
}

/** While someone drags the scroll bar over the whole list, only the rows where it comes to rest are asked for. */
const SETTLE_MS = 40;
/** The most that the contract gives at a time. */
const LOAD_ROWS = 1000;

/** A long list of the core: the rows around what is shown, asked for again when an event makes them stale. */
export function usePagedRows<P extends PagedProcedure>(
  name: P,
  filter: Omit<InputOf<P>, 'offset' | 'limit'>,
  options: { enabled?: boolean } = {},
): PagedRows<RowOf<P>> {
  const client = useClient();
  const enabled = options.enabled ?? true;
  const [around, setAround] = useState(() => pagesAround(0, 0));
  const [{ even: evenPage, odd: oddPage }] = useDebouncedValue(around, SETTLE_MS, { leading: true });
  const even = usePage(name, filter, evenPage, enabled);
  const known = even.data?.total;
  const odd = usePage(
    name,
    filter,
    oddPage,
    enabled && (evenPage > oddPage || (known ?? 0) > oddPage * PAGE_ROWS),
  );
  const fresh = [even, odd].find(({ data, isPlaceholderData }) => data && !isPlaceholderData);
  const total = useLastKnown((fresh ?? even).data?.total ?? odd.data?.total);
  const show = useCallback((first: number, last: number) => {
    const pages = pagesAround(first, last);
    setAround((old) => (old.even === pages.even && old.odd === pages.odd ? old : pages));
  }, []);
  return {
    total,
    rowAt: (index) => {
      const page = Math.floor(index / PAGE_ROWS);
      const { data } = page % 2 === 0 ? even : odd;
      if (page !== evenPage && page !== oddPage) return undefined;
      return data?.items[index % PAGE_ROWS];
    },
    show,
    load: (first, last) => loadAll(client, name, filter, first, last),
    stale: even.isPlaceholderData || odd.isPlaceholderData,
    failure: even.error ?? odd.error,
    retry: () => {
      if (even.error) void even.refetch();
      if (odd.error) void odd.refetch();
    },
  };
}

/** A list whose rows are all on their way is still as long as it was: else it would collapse and lose its place. */
function useLastKnown(value: number | undefined): number | undefined {
  const [last, setLast] = useState(value);
  if (value !== undefined && value !== last) setLast(value);
  return value ?? last;
}

interface Page<Row> {
  total: number;
  items: readonly Row[];
}

function usePage<P extends PagedProcedure>(
  name: P,
  filter: Omit<InputOf<P>, 'offset' | 'limit'>,
  page: number,
  enabled: boolean,
): UseQueryResult<Page<RowOf<P>>, KvasirError> {
  const client = useClient();
  const input = { ...filter, offset: page * PAGE_ROWS, limit: PAGE_ROWS };
  return useQuery<Page<RowOf<P>>, KvasirError, Page<RowOf<P>>, [string, { offset: number }]>({
    queryKey: [name, input],
    queryFn: () => callPaged(client, name, input),
    enabled,
    // Rows of another order in the same place are better than none for a moment; rows of another place are not.
    placeholderData: (previous, query) => (query?.queryKey[1].offset === input.offset ? previous : undefined),
  });
}

async function loadAll<P extends PagedProcedure>(
  client: Client,
  name: P,
  filter: Omit<InputOf<P>, 'offset' | 'limit'>,
  first: number,
  last: number,
): Promise<RowOf<P>[]> {
  const windows = windowsOf(first, last, LOAD_ROWS);
  const pages = await Promise.all(windows.map((window) => callPaged(client, name, { ...filter, ...window })));
  return pages.flatMap(({ items }) => items);
}

/** TypeScript cannot follow "filter and window make the input" through a generic name; the core checks it anyway. */
function callPaged<P extends PagedProcedure>(
  client: Client,
  name: P,
  input: object,
): Promise<Page<RowOf<P>>> {
  return client.call(name, ...([input] as unknown as CallArguments<P>)) as Promise<Page<RowOf<P>>>;
}
