import { Alert, Text } from '@mantine/core';
import { IconInfoCircle } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { DocumentAnalysis } from '../../../src-shared/contract/analysis.ts';
import { useCall } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { joinSentences } from '../../i18n/join-sentences.ts';

/** The work an analysis would do, shown before it starts. */
export function Plan({ request }: { request: DocumentAnalysis }) {
  const { t } = useTranslation(['analysis', 'common']);
  const { data: plan, error } = useCall('analysis.plan', request, { keepPrevious: true });
  if (error) return <FailureAlert failure={error} />;
  if (!plan)
    return (
      <Text c="dimmed" role="status">
        {t('plan.planning')}
      </Text>
    );
  const { windows, size, overlap, chunks, tokens, storedChunks, blends } = plan;
  const counts = {
    chunks: t('common:unit.passages', { count: chunks }),
    tokens: t('common:unit.tokens', { count: tokens }),
  };
  const sentence =
    windows === 1
      ? t('plan.one', counts)
      : t('plan.sentence', { windows: t('plan.windows', { count: windows }), size, overlap });
  const stored = joinSentences([
    t('plan.stored', { stored: storedChunks, ...counts }),
    ...(storedChunks < chunks ? [t('plan.missing')] : []),
  ]);
  return (
    <Alert color={blends ? 'gray' : 'orange'} py={8} icon={<IconInfoCircle aria-hidden />} role="status">
      <Text>{sentence}</Text>
      <Text>{blends ? stored : t('plan.full')}</Text>
    </Alert>
  );
}
