import { Stack, Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { ReactElement } from 'react';
import { useTranslation } from 'react-i18next';
import type { CacheStats } from '../../src-shared/contract/cache.ts';
import type { ModelEntry, ModelImpact } from '../../src-shared/contract/models.ts';
import { useAction, useClient } from '../client/context.tsx';
import { notifyFailure, notifyInfo } from './notify.tsx';
import { useReachWords } from './server/ReachText.tsx';
import { useFormat } from './useFormat.ts';

/** Confirms the effect on the caches before switching to another model; reloads the active one without asking. */
export function useActivate({ id, name, role, obstacle, server }: ModelEntry): {
  activate: () => Promise<void>;
  loadAgain: () => void;
  busy: boolean;
} {
  const { t } = useTranslation(['models', 'common']);
  const client = useClient();
  const reach = useReachWords();
  const change = useAction('models.activate');

  async function activate(): Promise<void> {
    try {
      const children = role === 'chat' ? await impact() : <Text>{t(`impact.${role}`)}</Text>;
      modals.openConfirmModal({
        title: t('impact.title', { name }),
        children,
        labels: { confirm: t('impact.confirm'), cancel: t('common:action.cancel') },
        onConfirm: () => change.mutate({ id }, { onError: notifyFailure }),
      });
    } catch (error) {
      notifyFailure(error);
    }
  }

  async function impact(): Promise<ReactElement> {
    if (obstacle) {
      const why = t(`common:notBlended.${obstacle}`, { name });
      return <Lines lines={[...(server ? [reach(server)] : []), why, t('impact.kept')]} />;
    }
    const [means, cache] = await Promise.all([
      client.call('models.impact', { id }),
      client.call('cache.stats'),
    ]);
    return <Impact impact={means} cache={cache} />;
  }

  function loadAgain(): void {
    const onSuccess = (): void => notifyInfo(t('common:loadAgain.done'));
    change.mutate({ id }, { onError: notifyFailure, onSuccess });
  }

  return { activate, loadAgain, busy: change.isPending };
}

/** The computation needed, whether there is space, and how long it takes. */
function Impact({ impact, cache }: { impact: ModelImpact; cache: CacheStats }) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const { chunks, cachedChunks, tokensToCompute, bytesToStore, secondsEstimate } = impact;
  // Caches of other models are evicted first.
  const budget = Math.min(cache.diskBudgetBytes, cache.diskBytes + (cache.diskFreeBytes ?? Infinity));
  const share = Math.min(1, budget / Math.max(1, bytesToStore));
  const lines = [
    chunks > 0
      ? t('impact.chunks', { count: chunks, cached: format.number(cachedChunks) })
      : t('impact.unknown'),
    tokensToCompute > 0 &&
      t('impact.work', { tokens: format.number(tokensToCompute), bytes: format.bytes(bytesToStore) }),
    tokensToCompute > 0 && room(),
    tokensToCompute > 0 &&
      (secondsEstimate === null
        ? t('impact.timeUnknown')
        : t('impact.time', { time: format.duration(secondsEstimate * 1000 * share) })),
    chunks > 0 && tokensToCompute === 0 && t('impact.nothing'),
    t('impact.kept'),
  ].filter((line) => line !== false);

  function room(): string {
    const sizes = {
      budget: format.bytes(cache.diskBudgetBytes),
      free: format.bytes(cache.diskFreeBytes ?? 0),
      share: format.percent(share),
    };
    if (share >= 1) return t('impact.fits', sizes);
    return budget < cache.diskBudgetBytes ? t('impact.overDisk', sizes) : t('impact.overBudget', sizes);
  }

  return <Lines lines={lines} />;
}

function Lines({ lines }: { lines: readonly string[] }) {
  return (
    <Stack gap="xs">
      {lines.map((line) => (
        <Text key={line}>{line}</Text>
      ))}
    </Stack>
  );
}
