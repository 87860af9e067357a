import { conversation, type PastTurn } from '../answering/ask.ts';
import { backendOf } from '../answering/backends/backend-of.ts';
import type { ContextRequest } from '../answering/context/choose-context.ts';

/** The choice of what a question reads after earlier turns. */
export function conversationContext(
  request: Omit<ContextRequest, 'earlier' | 'layOut'>,
  turns: readonly PastTurn[],
): ContextRequest {
  const { model, question, choices } = request;
  const backend = backendOf(model);
  return {
    ...request,
    earlier: turns,
    layOut: (passages) => backend.layOut(conversation(question, passages, choices, turns)),
  };
}
