import { MultiSelect } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useClient } from '../../client/context.tsx';

interface Choice {
  id: string;
  title: string;
}

const OFFERED = 30;
const TYPING_MS = 200;

/** Selects among any number of documents: the core searches, and the first matches of each library are offered. */
export function DocumentSelect({
  libraryIds,
  chosen,
  onChange,
}: {
  libraryIds: readonly string[];
  chosen: readonly Choice[];
  onChange: (chosen: Choice[]) => void;
}) {
  const { t } = useTranslation(['search', 'common', 'library']);
  const client = useClient();
  const [typed, setTyped] = useState('');
  const [open, setOpen] = useState(false);
  const [search] = useDebouncedValue(typed, TYPING_MS);
  const found = useQueries({
    queries: libraryIds.map((libraryId) => {
      const input = { libraryId, search, limit: OFFERED };
      return {
        queryKey: ['documents.list', input],
        queryFn: () => client.call('documents.list', input),
        enabled: open,
      };
    }),
  }).flatMap(({ data }) => data?.items ?? []);
  const choices = new Map([...chosen, ...found].map(({ id, title }) => [id, title]));
  return (
    <MultiSelect
      size="xs"
      aria-label={t('library:tabs.documents')}
      placeholder={chosen.length === 0 ? t('allDocuments') : ''}
      data={[...choices].map(([value, label]) => ({ value, label }))}
      value={chosen.map(({ id }) => id)}
      onChange={(ids) => onChange(ids.map((id) => ({ id, title: choices.get(id) ?? id })))}
      searchable
      searchValue={typed}
      onSearchChange={setTyped}
      // The core has already searched, also by path.
      filter={({ options }) => options}
      onDropdownOpen={() => setOpen(true)}
      nothingFoundMessage={t('common:noDocument')}
      maxDropdownHeight={280}
      clearable
    />
  );
}
