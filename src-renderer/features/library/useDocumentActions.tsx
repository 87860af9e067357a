import { Text } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useTranslation } from 'react-i18next';
import { useAction } from '../../client/context.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';

/** Actions on one or several documents. */
export function useDocumentActions() {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const retry = useAction('documents.retry');
  const remove = useAction('documents.delete');
  const askRemove = (ids: string[], onRemoved: () => void): void => {
    modals.openConfirmModal({
      title: t('documents.removeTitle', { count: ids.length }),
      children: <Text>{t('documents.removeText')}</Text>,
      labels: { confirm: t('common:action.remove'), cancel: t('common:action.cancel') },
      confirmProps: { color: 'red.9' },
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
