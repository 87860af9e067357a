import { Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useTranslation } from 'react-i18next';
import type { ModelEntry, ModelImpact } from '../../../src-shared/contract/models.ts';
import { useAction, useClient } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';

/** Says what another model means for the caches before it is taken into use. */
export function useActivate({ id, name, role }: ModelEntry): {
  activate: () => Promise<void>;
  busy: boolean;
} {
  const { t } = useTranslation(['models', 'common']);
  const client = useClient();
  const change = useAction('models.activate');
  const failed = (error: unknown): void => notifyFailure(error, t('common:error.title'));

  async function activate(): Promise<void> {
    try {
      const impact = role === 'chat' ? await client.call('models.impact', { id }) : undefined;
      modals.openConfirmModal({
        title: t('impact.title', { name }),
        children: impact ? <Impact impact={impact} /> : <Text size="sm">{t('impact.embedding')}</Text>,
        labels: { confirm: t('impact.confirm'), cancel: t('common:action.cancel') },
        onConfirm: () => change.mutate({ id }, { onError: failed }),
      });
    } catch (error) {
      failed(error);
    }
  }

  return { activate, busy: change.isPending };
}

function Impact({ impact }: { impact: ModelImpact }) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const { chunks, cachedChunks, tokensToCompute, bytesToStore, secondsEstimate } = impact;
  const lines = [
    chunks > 0
      ? t('impact.chunks', { count: chunks, cached: format.number(cachedChunks) })
      : t('impact.unknown'),
    tokensToCompute > 0 &&
      t('impact.work', { tokens: format.number(tokensToCompute), bytes: format.bytes(bytesToStore) }),
    tokensToCompute > 0 &&
      secondsEstimate !== null &&
      t('impact.time', { time: format.duration(secondsEstimate * 1000) }),
    chunks > 0 && tokensToCompute === 0 && t('impact.nothing'),
    t('impact.kept'),
  ].filter((line) => line !== false);
  return (
    <Stack gap="xs">
      {lines.map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
    </Stack>
  );
}
