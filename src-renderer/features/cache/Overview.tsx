import { Button, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CacheStats } from '../../../src-shared/contract/cache.ts';
import { useFormat } from '../../ui/useFormat.ts';
import { Budget } from './Budget.tsx';
import { Folders } from './Folders.tsx';
import { Policy } from './Policy.tsx';
import { Precision } from './Precision.tsx';
import { Section } from './Section.tsx';
import { SharedCacheStatus } from './SharedCacheStatus.tsx';
import { useEvict } from './useEvict.ts';
import { Verify } from './Verify.tsx';
import classes from './Cache.module.css';

/** Summary of the cache: budgets, usage, precision, health. */
export function Overview({ stats }: { stats: CacheStats }) {
  const { t } = useTranslation(['cache', 'common']);
  const format = useFormat();
  const evict = useEvict();
  const chunks = (count: number): string => t('common:unit.chunks', { count });
  return (
    <aside className={classes.overview} aria-label={t('overview')}>
      <Budget tier="disk" stats={stats} />
      <Folders />
      <Budget tier="memory" stats={stats} />
      {stats.device && <Budget tier="device" stats={stats} />}
      <SharedCacheStatus />
      <Use stats={stats} />
      <Policy stats={stats} />
      <Precision stats={stats} />
      <Section title={t('pinned')}>
        <Text c="dimmed">
          {t('pinnedText', { chunks: chunks(stats.pinnedChunks), size: format.bytes(stats.pinnedBytes) })}
        </Text>
      </Section>
      {stats.prefixes.entries > 0 && (
        <Section title={t('beginnings.title')}>
          <Text c="dimmed">
            {t('beginnings.text', {
              count: stats.prefixes.entries,
              size: format.bytes(stats.prefixes.bytes),
              budget: format.bytes(stats.prefixes.budgetBytes),
            })}
          </Text>
        </Section>
      )}
      {stats.otherModelChunks > 0 && (
        <Section title={t('others.title')}>
          <Text c="dimmed">
            {t('others.text', {
              chunks: chunks(stats.otherModelChunks),
              size: format.bytes(stats.otherModelBytes),
            })}
          </Text>
          <Button size="compact-sm" variant="default" w="fit-content" onClick={() => evict.askOthers(stats)}>
            {t('others.evict')}
          </Button>
        </Section>
      )}
      <Verify />
    </aside>
  );
}

function Use({ stats: { ramHits, diskHits, misses } }: { stats: CacheStats }) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const all = ramHits + diskHits + misses;
  const parts = [
    { label: t('hits'), count: ramHits, color: 'var(--kv-ram)' },
    { label: t('diskHits'), count: diskHits, color: 'var(--kv-disk)' },
    { label: t('misses'), count: misses, color: 'var(--kv-computed)' },
  ];
  return (
    <Section title={t('use')}>
      <Text c="dimmed">
        {all === 0 ? t('noUse') : t('hitRate', { share: format.percent((ramHits + diskHits) / all) })}
      </Text>
      <div className={classes.shares} aria-hidden>
        {parts
          .filter(({ count }) => count > 0)
          .map(({ label, count, color }) => (
            <div key={label} style={{ flexGrow: count, background: color }} />
          ))}
      </div>
      <ul className={classes.legend}>
        {parts.map(({ label, count, color }) => (
          <li key={label}>
            <span className={classes.dot} style={{ background: color }} />
            {label} <strong>{format.number(count)}</strong>
          </li>
        ))}
      </ul>
    </Section>
  );
}
