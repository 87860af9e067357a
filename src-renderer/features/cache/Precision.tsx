import { SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { CacheStats } from '../../../src-shared/contract/cache.ts';
import type { KvDtype } from '../../../src-shared/kv-dtype.ts';
import { useAction } from '../../client/context.tsx';
import { Meter } from '../../ui/Meter.tsx';
import { Subtext } from '../../ui/Subtext.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { Section } from './Section.tsx';
import classes from './Cache.module.css';

type Format = CacheStats['formats'][number];

/** Number formats with their sizes and what they lose with the model in use; switches to those that it passed. */
export function Precision({ stats: { dtype, formats } }: { stats: CacheStats }) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const askSwitch = useSwitch(formats);
  const largest = Math.max(...formats.map(({ bytes }) => bytes));
  return (
    <Section title={t('precision.title')}>
      <SegmentedControl<KvDtype>
        size="xs"
        aria-label={t('precision.title')}
        data={formats.map(({ dtype: value, offered }) => ({ value, label: value, disabled: !offered }))}
        value={dtype}
        onChange={askSwitch}
      />
      {formats.map((known) => (
        <div key={known.dtype} className={classes.dtype}>
          <span>{known.dtype}</span>
          <Meter
            share={largest > 0 ? known.bytes / largest : 0}
            label={`${known.dtype}: ${format.bytes(known.bytes)}`}
            color={known.dtype === dtype ? 'var(--kv-accent)' : 'var(--kv-muted)'}
          />
          <span>{format.bytes(known.bytes)}</span>
          <Verdict known={known} smallest={formats.findLast(({ offered }) => offered)} />
        </div>
      ))}
    </Section>
  );
}

/** Whether a format can be chosen, and what it loses. */
function Verdict({
  known: { dtype, loss, offered },
  smallest,
}: {
  known: Format;
  smallest: Format | undefined;
}) {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const words = [
    ...(dtype === 'f16' ? [t('precision.safest')] : []),
    ...(dtype !== 'f16' && dtype === smallest?.dtype ? [t('precision.smallest')] : []),
    ...(loss ? [t('precision.loss', { kl: format.number(loss.kl, 4) })] : []),
    ...(offered ? [] : [t(loss ? 'precision.refused' : 'precision.unmeasured')]),
  ];
  return <Subtext className={classes.verdict}>{words.join(' · ')}</Subtext>;
}

function useSwitch(formats: readonly Format[]): (dtype: KvDtype) => void {
  const { t } = useTranslation('cache');
  const format = useFormat();
  const update = useAction('settings.update');
  const size = (dtype: KvDtype): string =>
    format.bytes(formats.find((known) => known.dtype === dtype)?.bytes ?? 0);
  return (dtype) => {
    const sizes = { size: size(dtype), exact: size('f16') };
    askToConfirm({
      title: t('precision.switchTitle', { dtype }),
      text: [dtype === 'f16' ? t('precision.toExact', sizes) : t('precision.toSmaller', sizes)],
      note: t('precision.again'),
      confirm: t('precision.confirm', { dtype }),
      onConfirm: () => update.mutate({ dtype }, { onError: notifyFailure }),
    });
  };
}
