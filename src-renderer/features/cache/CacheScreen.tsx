import { Button, Loader } from '@mantine/core';
import { IconDatabase } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useCall } from '../../client/context.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { Page } from '../../ui/Page.tsx';
import { CacheTables } from './CacheTables.tsx';
import { Overview } from './Overview.tsx';
import { useEvict } from './useEvict.ts';
import classes from './Cache.module.css';

export default function CacheScreen() {
  const { t } = useTranslation(['cache', 'common']);
  const { data: stats, error, refetch } = useCall('cache.stats');
  const evict = useEvict();
  return (
    <Page
      title={t('common:nav.cache')}
      subtitle={t('subtitle')}
      scroll={false}
      actions={
        stats &&
        stats.chunks > 0 && (
          <Button variant="default" onClick={() => evict.askAll(stats)}>
            {t('evict.all')}
          </Button>
        )
      }
    >
      {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
      {!stats && !error && <Loader aria-label={t('common:loading')} />}
      {stats && (
        <div className={classes.columns}>
          <Overview stats={stats} />
          {stats.chunks === 0 ? <NothingStored /> : <CacheTables />}
        </div>
      )}
    </Page>
  );
}

function NothingStored() {
  const { t } = useTranslation('cache');
  return (
    <EmptyState icon={<IconDatabase size={30} />} title={t('empty')} text={t('emptyText')}>
      <Button component={Link} href="/library" variant="light">
        {t('toLibrary')}
      </Button>
    </EmptyState>
  );
}
