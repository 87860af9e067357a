import { conversation, type PastTurn } from '../ask.ts';
import { backendOf } from '../backends/backend-of.ts';
import type { ContextRequest } from './choose-context.ts';

/** The choice of what a question reads after earlier turns. */
export function conversationContext(
  request: Omit<ContextRequest, 'earlier' | 'layOut'>,
  turns: readonly PastTurn[] = [],
): ContextRequest {
  const { model, question, choices } = request;
  const backend = backendOf(model);
  return {
    ...request,
    earlier: turns,
    layOut: (passages) => backend.layOut(conversation(question, passages, choices, turns)),
  };
}
