import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { KV_DTYPES } from '../../src-shared/kv-dtype.ts';
import { useCall } from '../client/context.tsx';
import { joinSentences } from '../i18n/join-sentences.ts';
import { useFormat } from './useFormat.ts';

/** What the model in use has left to compute of all libraries, in one sentence; nothing if that is nothing. */
export function PrecomputePlan() {
  const { t } = useTranslation('common');
  const format = useFormat();
  const plan = useCall('libraries.plan', {}, { keepPrevious: true }).data?.plan;
  if (!plan || plan.tokens === 0) return null;
  const { tokens, dtype, bytes, seconds, budgetShare, proposal } = plan;
  const sizeOf = (each: typeof dtype) => ({ size: format.bytes(bytes[each]), dtype: each });
  const others = KV_DTYPES.filter((each) => each !== dtype).map((each) => t('plan.size', sizeOf(each)));
  const percent = (share: number): string => format.percent(Math.floor(share * 100) / 100);
  const words = {
    tokens: t('unit.tokens', { count: tokens }),
    kv: t('plan.kv', sizeOf(dtype)),
    others: others.join(', '),
    share: percent(budgetShare),
    time:
      seconds === null ? t('plan.timeUnknown') : t('plan.time', { time: format.duration(seconds * 1000) }),
  };
  return (
    <Text c="dimmed" mb={8} role="note">
      {joinSentences([
        t('plan.sentence', words),
        ...(proposal
          ? [t('plan.proposal', { budget: format.bytes(proposal.bytes), share: percent(proposal.share) })]
          : []),
      ])}
    </Text>
  );
}
