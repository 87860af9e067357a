import { useEffect, useRef } from 'react';
import { setDraft, setQueued, useChatState } from '../chat-state.ts';

export interface Question {
  draft: string;
  /** The draft without blanks around it. */
  text: string;
  /** The question that is sent as soon as nothing blocks it. */
  queued: string | undefined;
  /** Sending queues: an answer is being generated, or documents are being read. */
  waits: boolean;
  canSend: boolean;
  send: () => void;
  /** Returns the queued question to the draft. */
  takeBack: () => void;
  discard: () => void;
}

/** A conversation's draft and its queued question, which returns to the draft if nothing is left to ask about. */
export function useQuestion(
  stateKey: string,
  { waits, nothing, onAsk }: { waits: boolean; nothing: boolean; onAsk: (text: string) => void },
): Question {
  const draft = useChatState((state) => state.drafts[stateKey] ?? '');
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

  const text = draft.trim();
  const canSend = text !== '' && queued === undefined && !nothing;
  return {
    draft,
    text,
    queued,
    waits,
    canSend,
    send: () => {
      if (!canSend) return;
      if (!waits) return onAsk(text);
      setQueued(stateKey, text);
      setDraft(stateKey, '');
    },
    takeBack: () => {
      setDraft(stateKey, [queued, draft].filter((each) => each !== '').join('\n'));
      setQueued(stateKey, undefined);
    },
    discard: () => setQueued(stateKey, undefined),
  };
}
