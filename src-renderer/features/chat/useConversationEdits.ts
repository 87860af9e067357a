import { useQueryClient } from '@tanstack/react-query';
import type { Conversation, ConversationOptions } from '../../../src-shared/contract/chat.ts';
import { useClient } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useChatState } from './chat-state.ts';
import { leafBelow } from './thread/tree.ts';

/** Optimistic updates. If the core refuses, its version is restored. */
export function useConversationEdits(conversation: Conversation | undefined) {
  const client = useClient();
  const queries = useQueryClient();

  const change = (next: Conversation, call: Promise<unknown>): void => {
    const queryKey = ['chat.get', { id: next.id }];
    queries.setQueryData(queryKey, next);
    call.catch((error: unknown) => {
      notifyFailure(error);
      void queries.invalidateQueries({ queryKey });
    });
  };

  return {
    select: (messageId: string): void => {
      if (!conversation) return;
      const { id } = conversation;
      const leafId = leafBelow(conversation.messages, messageId);
      change({ ...conversation, leafId }, client.call('chat.selectLeaf', { id, leafId }));
    },
    /** Applies to the current options: adding the documents may have taken a while. */
    changeOptions: (make: (options: ConversationOptions) => ConversationOptions): void => {
      if (!conversation) {
        useChatState.setState(({ newOptions }) => ({ newOptions: make(newOptions) }));
        return;
      }
      const { id } = conversation;
      const now = queries.getQueryData<Conversation>(['chat.get', { id }]) ?? conversation;
      const options = make(now.options);
      change({ ...now, options }, client.call('chat.setOptions', { id, options }));
    },
  };
}
