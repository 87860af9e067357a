import { useDebouncedValue } from '@mantine/hooks';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { InputOf, OutputOf, ProcedureName } from '../../src-shared/contract/contract.ts';
import type { KvasirError } from '../../src-shared/errors.ts';
import { useClient } from '../client/context.tsx';
import type { CallArguments } from '../../src-shared/contract/client.ts';
import type { Client } from '../client/client.ts';
import { PAGE_ROWS, pagesAround, windowsOf } from './paging.ts';

/** Procedures that return a window of a long list. */
type PagedProcedure = {
  [P in ProcedureName]: OutputOf<P> extends { total: number; items: readonly unknown[] } ? P : never;
}[ProcedureName];

type RowOf<P extends PagedProcedure> = OutputOf<P> extends { items: readonly (infer Row)[] } ? Row : never;

export interface PagedRows<Row> {
  /** undefined until the first response. */
  total: number | undefined;
  /** undefined while the row is loading. */
  rowAt: (index: number) => Row | undefined;
  /** Sets the visible rows; they are fetched and kept up to date. */
  show: (first: number, last: number) => void;
  /** All rows of a range, for actions on rows that were never shown. */
  load: (first: number, last: number) => Promise<Row[]>;
  /** The rows belong to an earlier filter or sorting; new ones are loading. */
  stale: boolean;
  failure: KvasirError | null;
  retry: () => void;
}

/** Debounce: while the scrollbar is dragged over the list, only the rows where it stops are fetched. */
const SETTLE_MS = 40;
/** The contract's limit per request. */
const LOAD_ROWS = 1000;

/** A long list of the core: the rows around the visible ones, fetched again when an event invalidates them. */
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

/** A list whose rows are all loading keeps its length: otherwise it would collapse and lose its scroll position. */
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
    // Rows in an outdated order are better than none for a moment; rows of another range are not.
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

/** TypeScript cannot infer "filter plus window is the input" through a generic name; the core validates it. */
function callPaged<P extends PagedProcedure>(
  client: Client,
  name: P,
  input: object,
): Promise<Page<RowOf<P>>> {
  return client.call(name, ...([input] as unknown as CallArguments<P>)) as Promise<Page<RowOf<P>>>;
}
