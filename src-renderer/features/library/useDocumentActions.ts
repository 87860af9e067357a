import { useTranslation } from 'react-i18next';
import { useAction } from '../../client/context.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';

/** Actions on one or several documents. */
export function useDocumentActions() {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const retry = useAction('documents.retry');
  const remove = useAction('documents.delete');
  const askRemove = (ids: string[], onRemoved: () => void): void => {
    askToConfirm({
      title: t('documents.removeTitle', { count: ids.length }),
      text: [t('documents.removeText')],
      confirm: t('common:action.remove'),
      danger: true,
      onConfirm: () =>
        remove.mutate(
          { ids },
          {
            onError: notifyFailure,
            onSuccess: ({ evictedChunks, evictedBytes }) => {
              onRemoved();
              notifyInfo(
                t('documents.removed', {
                  size: format.bytes(evictedBytes),
                  chunks: t('common:unit.chunks', { count: evictedChunks }),
                }),
              );
            },
          },
        ),
    });
  };
  return { retry: (ids: string[]) => retry.mutate({ ids }, { onError: notifyFailure }), askRemove };
}
