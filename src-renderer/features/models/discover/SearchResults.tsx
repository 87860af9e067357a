import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconArrowLeft } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { HubEntry, HubInfo } from '../../../../src-shared/contract/hub.ts';
import { useCall } from '../../../client/context.tsx';
import { HubResponse } from './HubResponse.tsx';
import { GatedBadge } from './GatedBadge.tsx';
import { pathOf } from './paths.ts';
import { useEntryFacts } from './useEntryFacts.ts';
import classes from './Discover.module.css';

export function SearchResults({ hub, query, onBack }: { hub: HubInfo; query: string; onBack: () => void }) {
  const { t } = useTranslation('hub');
  const [cursors, setCursors] = useState(['']);
  return (
    <>
      <Button
        variant="subtle"
        size="xs"
        w="fit-content"
        leftSection={<IconArrowLeft size={16} />}
        onClick={onBack}
      >
        {t('backToStart')}
      </Button>
      {cursors.map((cursor, index) => (
        <ResultPage
          key={cursor}
          {...{ hub, query, cursor }}
          onMore={index === cursors.length - 1 ? (next) => setCursors([...cursors, next]) : undefined}
        />
      ))}
    </>
  );
}

function ResultPage({
  hub,
  query,
  cursor,
  onMore,
}: {
  hub: HubInfo;
  query: string;
  cursor: string;
  onMore: ((next: string) => void) | undefined;
}) {
  const { t } = useTranslation('hub');
  const response = useCall('hub.search', { query, cursor });
  const page = response.data;
  return (
    <HubResponse title={t('results', { query })} host={hub.host} response={response}>
      {page?.entries.length === 0 && <Text>{t('none', { host: hub.host, query })}</Text>}
      <Stack gap={8} component="ul">
        {page?.entries.map((entry) => (
          <Result key={entry.repository} entry={entry} />
        ))}
      </Stack>
      {page && page.next !== '' && onMore && (
        <Button variant="default" w="fit-content" onClick={() => onMore(page.next)}>
          {t('more')}
        </Button>
      )}
    </HubResponse>
  );
}

function Result({ entry }: { entry: HubEntry }) {
  const { t } = useTranslation('hub');
  const facts = useEntryFacts(entry);
  return (
    <li className={`${classes.row ?? ''} ${classes.opens ?? ''}`} aria-label={entry.repository}>
      <div className={classes.body}>
        <Group gap="xs">
          <Link href={pathOf(entry.repository)} className={classes.link ?? ''}>
            {entry.repository}
          </Link>
          {entry.role !== null && entry.role !== 'chat' && (
            <Badge color="gray">{t(`role.${entry.role}`)}</Badge>
          )}
          <GatedBadge gated={entry.gated} />
        </Group>
        <Text c="dimmed">{facts.join(' · ')}</Text>
      </div>
    </li>
  );
}
