import { useEffect } from 'react';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { useClient } from '../../../client/context.tsx';

/** Debounce: text that is still being typed is not a question yet. */
const PAUSE_MS = 250;

/** Sends the draft to the core so that it can preload what the question will find. Nothing waits for the result. */
export function useDraftAhead(
  conversationId: string | null,
  options: ConversationOptions,
  text: string,
): void {
  const client = useClient();
  useEffect(() => {
    if (text === '') return undefined;
    const timer = setTimeout(() => {
      client.call('chat.draft', { conversationId, options, text }).catch(() => undefined);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [client, conversationId, options, text]);
}
