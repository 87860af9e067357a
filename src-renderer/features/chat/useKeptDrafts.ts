import { useEffect } from 'react';
import { useClient } from '../../client/context.tsx';
import { NEW, useChatState } from './chat-state.ts';

const PAUSE_MS = 400;

/** Stores drafts in the core, and takes over those that this window does not know. */
export function useKeptDrafts(): void {
  const client = useClient();
  useEffect(() => {
    let stored = useChatState.getState().drafts;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const store = (): void => {
      const { drafts } = useChatState.getState();
      for (const [key, text] of Object.entries(drafts)) {
        if (text === (stored[key] ?? '')) continue;
        const conversationId = key === NEW ? null : key;
        // The conversation may be gone. Nothing else waits for a draft.
        client.call('chat.setDraft', { conversationId, text }).catch(() => undefined);
      }
      stored = drafts;
    };
    const end = useChatState.subscribe(({ drafts }, before) => {
      if (drafts === before.drafts) return;
      clearTimeout(timer);
      timer = setTimeout(store, PAUSE_MS);
    });
    const load = async (): Promise<void> => {
      const kept = (await client.call('chat.drafts')).map(
        ({ conversationId, text }) => [conversationId ?? NEW, text] as const,
      );
      stored = { ...Object.fromEntries(kept), ...stored };
      useChatState.setState(({ drafts }) => ({ drafts: { ...Object.fromEntries(kept), ...drafts } }));
    };
    load().catch(() => undefined);
    return () => {
      end();
      clearTimeout(timer);
      store();
    };
  }, [client]);
}
