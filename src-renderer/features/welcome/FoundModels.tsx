import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { FoundModelRow } from '../../ui/found/FoundModelRow.tsx';
import { SearchStatus } from '../../ui/found/SearchStatus.tsx';
import { useSearch } from '../../ui/found/useSearch.ts';
import classes from './Welcome.module.css';

const SHOWN = 2;

/** Models that are already on this machine: one click uses one in place of the demo. */
export function FoundModels() {
  const { t } = useTranslation('found');
  const { found, searching, usable, search } = useSearch();
  const chat = usable.filter(({ header }) => header?.role === 'chat');
  return (
    <section aria-label={t('first.title')}>
      <h2 className={classes.heading}>{t('first.title')}</h2>
      {chat.length > 0 && (
        <Stack gap={8} component="ul">
          {chat.slice(0, SHOWN).map((model) => (
            <FoundModelRow key={model.path} model={model} />
          ))}
        </Stack>
      )}
      {chat.length > 0 && (
        <Text c="dimmed" mt={6}>
          {t('first.cost')}{' '}
          {chat.length > SHOWN && (
            <Anchor component={Link} href="/models" inherit>
              {t('more', { count: chat.length - SHOWN })}
            </Anchor>
          )}
        </Text>
      )}
      <Group gap="xs">
        <SearchStatus found={found} />
        {chat.length === 0 && !searching && (
          <Button
            size="compact-sm"
            variant="subtle"
            leftSection={<IconSearch size={16} />}
            onClick={() => void search()}
          >
            {t('look')}
          </Button>
        )}
      </Group>
    </section>
  );
}
