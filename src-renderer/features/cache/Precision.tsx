import { SegmentedControl, Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useTranslation } from 'react-i18next';
import type { CacheStats } from '../../../src-shared/contract/cache.ts';
import { useAction } from '../../client/context.tsx';
import { Meter } from '../../ui/Meter.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { Section } from './Section.tsx';
import classes from './Cache.module.css';

const DTYPES = ['f16', 'q8_0'] as const;
type Dtype = (typeof DTYPES)[number];

/** Shows how the number format affects the size, and switches it. */
export function Precision({ stats: { dtype, bytesByDtype } }: { stats: CacheStats }) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const askSwitch = useSwitch(bytesByDtype);
  const largest = Math.max(bytesByDtype.f16, bytesByDtype.q8_0);
  return (
    <Section title={t('precision.title')}>
      <SegmentedControl<Dtype>
        size="xs"
        aria-label={t('precision.title')}
        data={DTYPES.map((value) => ({ value, label: t(`precision.${value}`) }))}
        value={dtype}
        onChange={askSwitch}
      />
      {largest > 0 && (
        <>
          {DTYPES.map((name) => (
            <div key={name} className={classes.dtype}>
              <span>{name}</span>
              <Meter
                share={bytesByDtype[name] / largest}
                label={`${name}: ${format.bytes(bytesByDtype[name])}`}
                color={name === dtype ? 'var(--kv-accent)' : 'var(--kv-muted)'}
              />
              <span>{format.bytes(bytesByDtype[name])}</span>
            </div>
          ))}
          <Text size="xs" c="dimmed">
            {t('precision.saves', { share: format.percent(bytesByDtype.q8_0 / bytesByDtype.f16) })}
          </Text>
        </>
      )}
    </Section>
  );
}

function useSwitch(bytes: CacheStats['bytesByDtype']): (dtype: Dtype) => void {
  const { t } = useTranslation(['cache', 'common']);
  const format = useFormat();
  const update = useAction('settings.update');
  return (dtype) => {
    const before = dtype === 'f16' ? 'q8_0' : 'f16';
    const sizes = { size: format.bytes(bytes[dtype]), before: format.bytes(bytes[before]) };
    modals.openConfirmModal({
      title: t('precision.switchTitle', { dtype }),
      children: (
        <Stack gap="xs">
          <Text size="sm">
            {dtype === 'q8_0' ? t('precision.toSmaller', sizes) : t('precision.toLarger', sizes)}
          </Text>
          <Text size="sm" c="dimmed">
            {t('precision.again')}
          </Text>
        </Stack>
      ),
      labels: { confirm: t('precision.confirm', { dtype }), cancel: t('common:action.cancel') },
      onConfirm: () =>
        update.mutate({ dtype }, { onError: (error) => notifyFailure(error, t('common:error.title')) }),
    });
  };
}
