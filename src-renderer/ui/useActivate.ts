import { useTranslation } from 'react-i18next';
import type { ModelEntry } from '../../src-shared/contract/models.ts';
import { useAction, useClient } from '../client/context.tsx';
import { askToConfirm } from './confirm.tsx';
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
  const format = useFormat();
  const change = useAction('models.activate');

  async function activate(): Promise<void> {
    try {
      const text = role === 'chat' ? await impactLines() : [t(`impact.${role}`)];
      askToConfirm({
        title: t('impact.title', { name }),
        text,
        confirm: t('impact.confirm'),
        onConfirm: () => change.mutate({ id }, { onError: notifyFailure }),
      });
    } catch (error) {
      notifyFailure(error);
    }
  }

  /** The computation needed, whether there is space, and how long it takes. */
  async function impactLines(): Promise<(string | false)[]> {
    if (obstacle)
      return [
        server !== null && reach(server),
        t(`common:notBlended.${obstacle}`, { name }),
        t('impact.kept'),
      ];
    const [impact, cache] = await Promise.all([
      client.call('models.impact', { id }),
      client.call('cache.stats'),
    ]);
    const { chunks, cachedChunks, tokensToCompute, bytesToStore, secondsEstimate } = impact;
    // Caches of other models are evicted first.
    const budget = Math.min(cache.diskBudgetBytes, cache.diskBytes + (cache.diskFreeBytes ?? Infinity));
    const share = Math.min(1, budget / Math.max(1, bytesToStore));
    const sizes = {
      budget: format.bytes(cache.diskBudgetBytes),
      free: format.bytes(cache.diskFreeBytes ?? 0),
      share: format.percent(share),
    };
    const room =
      share >= 1 ? 'impact.fits' : budget < cache.diskBudgetBytes ? 'impact.overDisk' : 'impact.overBudget';
    return [
      chunks > 0
        ? t('impact.chunks', { count: chunks, cached: format.number(cachedChunks) })
        : t('impact.unknown'),
      ...(tokensToCompute > 0
        ? [
            t('impact.work', { tokens: format.number(tokensToCompute), bytes: format.bytes(bytesToStore) }),
            t(room, sizes),
            secondsEstimate === null
              ? t('impact.timeUnknown')
              : t('impact.time', { time: format.duration(secondsEstimate * 1000 * share) }),
          ]
        : []),
      chunks > 0 && tokensToCompute === 0 && t('impact.nothing'),
      t('impact.kept'),
    ];
  }

  function loadAgain(): void {
    const onSuccess = (): void => notifyInfo(t('common:loadAgain.done'));
    change.mutate({ id }, { onError: notifyFailure, onSuccess });
  }

  return { activate, loadAgain, busy: change.isPending };
}
