import { useDebouncedValue } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import type { DocumentInfo } from '../../../src-shared/contract/libraries.ts';
import { useCall, useClient } from '../../client/context.tsx';

const OFFERED = 30;
const TYPING_MS = 200;

/** Documents to choose from. The core searches all libraries; the first matches of each are offered. */
export function useDocumentChoices(chosen: DocumentInfo | undefined) {
  const client = useClient();
  const { data: libraries = [] } = useCall('libraries.list');
  const [search, setSearch] = useState('');
  const [open, setOpen] = useState(false);
  const [typed] = useDebouncedValue(search === chosen?.title ? '' : search, TYPING_MS);
  const found = useQueries({
    queries: libraries.map(({ id: libraryId }) => {
      const input = { libraryId, search: typed, limit: OFFERED };
      return {
        queryKey: ['documents.list', input],
        queryFn: () => client.call('documents.list', input),
        enabled: open,
      };
    }),
  }).flatMap(({ data }) => data?.items ?? []);
  const all = new Map([...(chosen ? [chosen] : []), ...found].map(({ id, title }) => [id, title]));
  const choices = [...all].map(([value, label]) => ({ value, label }));
  return { choices, search, setSearch, setOpen };
}
