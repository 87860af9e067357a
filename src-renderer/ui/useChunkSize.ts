import { useTranslation } from 'react-i18next';
import { useAction, useCall } from '../client/context.tsx';
import { askToConfirm } from './confirm.tsx';
import { notifyFailure, notifyInfo } from './notify.tsx';
import { useFormat } from './useFormat.ts';

/** Changes the chunk size (null for automatic) after confirming the cost. */
export function useChunkSize(): (chunkTokens: number | null) => void {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const { data: libraries = [] } = useCall('libraries.list');
  const { data: queue } = useCall('queue.status');
  const update = useAction('settings.update');
  const sum = (of: (library: (typeof libraries)[number]) => number): number =>
    libraries.reduce((total, library) => total + of(library), 0);
  return (chunkTokens) => {
    const size = chunkTokens === null ? '' : t('common:unit.tokens', { count: chunkTokens });
    const tokens = sum((library) => library.tokens);
    const speed = queue?.tokensPerSecond ?? 0;
    askToConfirm({
      title: chunkTokens === null ? t('sizes.automaticTitle') : t('sizes.useTitle', { tokens: size }),
      text: [
        t('sizes.useText', {
          documents: t('common:unit.documents', { count: sum(({ documents }) => documents) }),
          tokens: t('common:unit.tokens', { count: tokens }),
        }),
        speed > 0 && t('sizes.useTime', { time: format.duration((tokens / speed) * 1000) }),
      ],
      note: t('sizes.useOld'),
      confirm: chunkTokens === null ? t('sizes.automaticConfirm') : t('sizes.confirm', { tokens: size }),
      onConfirm: () =>
        update.mutate(
          { chunkTokens },
          { onSuccess: () => notifyInfo(t('sizes.done')), onError: notifyFailure },
        ),
    });
  };
}
