import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useClient } from '../../../client/context.tsx';
import { notifyFailure, notifyInfo, notifyUndo } from '../../../ui/notify.tsx';

/** Actions on a conversation as a whole. Failures are shown as notifications. */
export function useConversationActions(activeId: string | undefined) {
  const client = useClient();
  const { t } = useTranslation(['chat', 'common']);
  const [, navigate] = useLocation();
  const attempt = (work: () => Promise<unknown>): void => {
    work().catch(notifyFailure);
  };
  return {
    rename: (id: string, title: string) => attempt(() => client.call('chat.rename', { id, title })),
    pin: (id: string, pinned: boolean) => attempt(() => client.call('chat.setPinned', { id, pinned })),
    remove: (id: string, title: string) =>
      attempt(async () => {
        await client.call('chat.delete', { id });
        if (id === activeId) navigate('/');
        notifyUndo(t('list.deleted', { title }), t('common:action.undo'), () =>
          attempt(() => client.call('chat.restore', { id })),
        );
      }),
    /** `thinking`: include the model's thoughts. */
    save: (id: string, format: 'markdown' | 'json', thinking = false) =>
      attempt(async () => {
        const asked = { id, format, thinking };
        const { fileName, mediaType, content } = await client.call('chat.export', asked);
        download(fileName, new Blob([content], { type: mediaType }));
        notifyInfo(t('export.done', { name: fileName }));
      }),
  };
}

export type ConversationActions = ReturnType<typeof useConversationActions>;

function download(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
