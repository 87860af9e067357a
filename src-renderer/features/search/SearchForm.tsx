import { Loader, MultiSelect, Stack, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../client/context.tsx';
import { DocumentSelect } from './DocumentSelect.tsx';
import { useSearchState } from './search-state.ts';
import classes from './Search.module.css';

/** The query and its scope. */
export function SearchForm({ busy }: { busy: boolean }) {
  const { t } = useTranslation(['search', 'common']);
  const { text, libraryIds, documents } = useSearchState();
  const { data: libraries = [] } = useCall('libraries.list');
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  return (
    <Stack component="search" gap={8}>
      <TextInput
        ref={input}
        size="md"
        type="search"
        aria-label={t('question')}
        placeholder={t('placeholder')}
        inputWrapperOrder={['input', 'description']}
        description={t('common:filters.help')}
        leftSection={busy ? <Loader size={16} /> : <IconSearch size={18} aria-hidden />}
        value={text}
        onChange={(event) => useSearchState.setState({ text: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === 'Escape') useSearchState.setState({ text: '' });
          if (event.key === 'ArrowDown') {
            event.preventDefault();
            document.querySelector<HTMLElement>('[data-hit]')?.focus();
          }
        }}
      />
      <div className={classes.filters}>
        <MultiSelect
          size="xs"
          aria-label={t('libraries')}
          placeholder={libraryIds.length === 0 ? t('common:allLibraries') : ''}
          data={libraries.map(({ id, name }) => ({ value: id, label: name }))}
          value={libraryIds}
          onChange={(chosen) => useSearchState.setState({ libraryIds: chosen })}
          clearable
        />
        <DocumentSelect
          libraryIds={libraryIds.length > 0 ? libraryIds : libraries.map(({ id }) => id)}
          chosen={documents}
          onChange={(chosen) => useSearchState.setState({ documents: chosen })}
        />
      </div>
    </Stack>
  );
}
