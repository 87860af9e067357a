import { Anchor, Group, Paper, Text } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { HubInfo, HubRepository } from '../../../../src-shared/contract/hub.ts';
import { TokenForm } from './Token.tsx';
import classes from './Discover.module.css';

/** Steps to access a repository whose terms must be accepted. */
export function GatedAccess({ repository, hub }: { repository: HubRepository; hub: HubInfo }) {
  const { t } = useTranslation('hub');
  const { page, gated } = repository;
  return (
    <Paper withBorder p="md" radius="lg" role="note" aria-label={t('gatedSteps.title')}>
      <Group gap="xs" mb="xs">
        <IconLock size={18} aria-hidden />
        <Text size="md" fw={600}>
          {t('gatedSteps.title')}
        </Text>
      </Group>
      <ol className={classes.steps}>
        <li>
          {t('gatedSteps.page')}{' '}
          <Anchor href={page} target="_blank" rel="noopener noreferrer" inherit>
            {page}
          </Anchor>{' '}
          {gated === 'manual' && t('gatedSteps.manual')}
        </li>
        <li>{t('gatedSteps.token')}</li>
      </ol>
      <TokenForm hub={hub} />
    </Paper>
  );
}
