import { Alert, Anchor, Button, Loader, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconInfoCircle, IconSearch, IconSearchOff } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { OutputOf } from '../../../src-shared/contract/contract.ts';
import { useCall } from '../../client/context.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { Page } from '../../ui/Page.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { Hits } from './Hits.tsx';
import { SearchForm } from './SearchForm.tsx';
import { useSearchState } from './search-state.ts';
import classes from './Search.module.css';

const TYPING_MS = 250;
/** Of this window: a newer search ends the one before. */
const FIELD = Math.random().toString(36).slice(2);

/** Finds passages without using the model. */
export default function SearchScreen() {
  const { t } = useTranslation(['search', 'common']);
  const { text, libraryIds, documents } = useSearchState();
  const [question] = useDebouncedValue(text.trim(), TYPING_MS);
  const scope = { libraryIds, documentIds: documents.map(({ id }) => id) };
  const { data, error, isFetching, refetch } = useCall(
    'search.query',
    { text: question, scope, field: FIELD },
    { enabled: question !== '', keepPrevious: true },
  );
  const result = question === '' ? undefined : data;
  return (
    <Page title={t('common:nav.search')} subtitle={t('subtitle')} scroll={false}>
      <Stack gap={12} h="100%" maw="64rem">
        <SearchForm busy={isFetching} />
        <div className={classes.results}>
          {error && question !== '' && <FailureAlert failure={error} onRetry={() => void refetch()} />}
          {question === '' && (
            <EmptyState icon={<IconSearch size={30} />} title={t('idleTitle')} text={t('idleText')} />
          )}
          {question !== '' && !data && !error && <Loader m="auto" aria-label={t('common:loading')} />}
          {result && !error && <Results result={result} stale={isFetching} />}
        </div>
      </Stack>
    </Page>
  );
}

function Results({ result, stale }: { result: OutputOf<'search.query'>; stale: boolean }) {
  const { t } = useTranslation(['search', 'common']);
  const format = useFormat();
  const { hits, usedVectors, filtered, misspelt, newest, ms } = result;
  const documents = new Set(hits.map(({ documentId }) => documentId)).size;
  return (
    <>
      <Text c="dimmed" role="status" className={classes.summary}>
        {hits.length > 0 &&
          t('found', {
            passages: t('common:unit.passages', { count: hits.length }),
            documents: t('inDocuments', { count: documents }),
            time: format.duration(ms),
          })}
        {filtered !== null && ` ${t('filtered', { count: filtered })}`}
        {misspelt.length > 0 && ` ${t('misspelt', { words: misspelt.join(', '), count: misspelt.length })}`}
        {newest !== null && ` ${t('newest', { count: newest })}`}
      </Text>
      {!usedVectors && <WordsOnly />}
      {hits.length === 0 ? <NothingFound /> : <Hits hits={hits} stale={stale} usedVectors={usedVectors} />}
    </>
  );
}

function WordsOnly() {
  const { t } = useTranslation('search');
  return (
    <Alert color="gray" py={8} mb="sm" icon={<IconInfoCircle />}>
      <Text>
        {t('wordsOnly')}{' '}
        <Anchor component={Link} href="/models" underline="always">
          {t('toModels')}
        </Anchor>
      </Text>
    </Alert>
  );
}

function NothingFound() {
  const { t } = useTranslation('search');
  const { libraryIds, documents } = useSearchState();
  const limited = libraryIds.length + documents.length > 0;
  return (
    <EmptyState icon={<IconSearchOff size={30} />} title={t('nothingTitle')} text={t('nothingText')}>
      {limited && (
        <Button
          variant="default"
          size="xs"
          onClick={() => useSearchState.setState({ libraryIds: [], documents: [] })}
        >
          {t('widen')}
        </Button>
      )}
    </EmptyState>
  );
}
