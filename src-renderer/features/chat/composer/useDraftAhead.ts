import { useEffect } from 'react';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { useClient } from '../../../client/context.tsx';

/** A pause in typing; what is typed on through it is nobody's question yet. */
const PAUSE_MS = 250;

/** Tells the core what is being typed, so that it can bring in what the question will find. Nobody waits for it. */
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
