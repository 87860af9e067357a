import { useTranslation } from 'react-i18next';
import type { CacheSelection, CacheStats } from '../../../src-shared/contract/cache.ts';
import { useAction } from '../../client/context.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { notifyFailure, notifyInfo } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';

/** Evicts chunks, always after confirmation. */
export function useEvict() {
  const { t } = useTranslation(['cache', 'common']);
  const format = useFormat();
  const evict = useAction('cache.evict');
  const chunks = (count: number): string => t('common:unit.chunks', { count });
  const ask = (title: string, what: string, selection: CacheSelection, onDone?: () => void): void => {
    askToConfirm({
      title,
      text: [what],
      note: `${t('evict.text')} ${t('evict.kept')}`,
      confirm: t('evict.confirm'),
      danger: true,
      onConfirm: () =>
        evict.mutate(
          { selection },
          {
            onError: notifyFailure,
            onSuccess: (gone) => {
              onDone?.();
              notifyInfo(t('evict.done', { chunks: chunks(gone.chunks), size: format.bytes(gone.bytes) }));
            },
          },
        ),
    });
  };
  return {
    askSelected: (selection: CacheSelection, count: number, onDone: () => void) =>
      ask(t('evict.title'), t('selected', { count }), selection, onDone),
    askAll: ({ chunks: count, bytes }: CacheStats) =>
      ask(t('evict.titleAll'), t('evict.all_text', { chunks: chunks(count), size: format.bytes(bytes) }), {
        all: true,
      }),
    askOthers: ({ otherModelChunks, otherModelBytes }: CacheStats) =>
      ask(
        t('evict.titleOthers'),
        t('evict.others_text', { chunks: chunks(otherModelChunks), size: format.bytes(otherModelBytes) }),
        { otherModels: true },
      ),
  };
}
