import { Select, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CacheStats } from '../../../src-shared/contract/cache.ts';
import type { SettingsChanges } from '../../../src-shared/settings.ts';
import { useAction, useCall } from '../../client/context.tsx';
import { Subtext } from '../../ui/Subtext.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { Section } from './Section.tsx';

const POLICIES = ['workload-aware', 'lru'] as const;

/** Settings for eviction and preloading. */
export function Policy({ stats: { prefetched, prefetchHits } }: { stats: CacheStats }) {
  const { t } = useTranslation('cache');
  const { data: settings } = useCall('settings.get');
  const update = useAction('settings.update');
  if (!settings) return null;
  const change = (changes: SettingsChanges): void => update.mutate(changes, { onError: notifyFailure });
  const { eviction, prefetch } = settings;
  return (
    <Section title={t('policy.title')}>
      <Select
        size="xs"
        label={t('policy.eviction')}
        description={t(`policy.help.${eviction}`)}
        value={eviction}
        allowDeselect={false}
        data={POLICIES.map((value) => ({ value, label: t(`policy.${value}`) }))}
        onChange={(value) => value && change({ eviction: value })}
      />
      <Switch
        size="xs"
        label={t('policy.prefetch')}
        description={t('policy.prefetchHelp')}
        checked={prefetch}
        onChange={({ currentTarget }) => change({ prefetch: currentTarget.checked })}
      />
      {prefetched > 0 && <Subtext>{t('prefetchHits', { used: prefetchHits, made: prefetched })}</Subtext>}
    </Section>
  );
}
