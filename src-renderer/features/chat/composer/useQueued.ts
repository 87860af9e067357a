import { useEffect, useRef } from 'react';
import { setDraft, setQueued, useChatState } from '../chat-state.ts';

/** Sends the queued question as soon as nothing blocks it, and returns it to the composer if nothing is left to ask about. */
export function useQueued(
  stateKey: string,
  { waits, nothing, onAsk }: { waits: boolean; nothing: boolean; onAsk: (text: string) => void },
): string | undefined {
  const queued = useChatState((state) => state.queued[stateKey]);
  const ask = useRef(onAsk);
  useEffect(() => {
    ask.current = onAsk;
  });
  useEffect(() => {
    if (queued === undefined || waits) return;
    setQueued(stateKey, undefined);
    if (nothing) setDraft(stateKey, queued);
    else ask.current(queued);
  }, [stateKey, queued, waits, nothing]);
  return queued;
}
