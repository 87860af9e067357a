import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { Form } from '../../../ui/Form.tsx';
import { RepositoryPage } from './RepositoryPage.tsx';
import { SearchResults } from './SearchResults.tsx';
import { StartingPoints } from './StartingPoints.tsx';
import { Token } from './Token.tsx';

/** Models on the configured hub: starting points, search results, or an open repository. */
export function Discover({ repository }: { repository: string | undefined }) {
  const { data: info, error } = useCall('hub.info');
  const [query, setQuery] = useState('');
  if (error) return <FailureAlert failure={error} />;
  if (!info) return null;
  // Keeps the search when the user returns from a repository.
  if (repository !== undefined) return <RepositoryPage key={repository} repository={repository} hub={info} />;
  return (
    <Stack gap="lg">
      <Search host={info.host} query={query} onSearch={setQuery} />
      {query === '' ? (
        <StartingPoints hub={info} />
      ) : (
        <SearchResults key={query} hub={info} query={query} onBack={() => setQuery('')} />
      )}
      <Token hub={info} />
    </Stack>
  );
}

function Search({
  host,
  query,
  onSearch,
}: {
  host: string;
  query: string;
  onSearch: (query: string) => void;
}) {
  const { t } = useTranslation(['hub', 'common']);
  const [draft, setDraft] = useState(query);
  return (
    <Stack gap={6}>
      <Form role="search" onSubmit={() => onSearch(draft.trim())}>
        <Group gap="xs" wrap="nowrap">
          <TextInput
            flex={1}
            aria-label={t('search', { host })}
            placeholder={t('placeholder')}
            leftSection={<IconSearch size={16} />}
            value={draft}
            maxLength={200}
            onChange={(event) => setDraft(event.currentTarget.value)}
          />
          <Button type="submit" disabled={draft.trim() === ''}>
            {t('common:action.search')}
          </Button>
        </Group>
      </Form>
      <Text c="dimmed">{t('asks', { host })}</Text>
    </Stack>
  );
}
