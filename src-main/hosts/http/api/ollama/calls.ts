import type { ToolCall } from '../../../../answering/tools.ts';
import { argumentsOf } from '../tools.ts';
import type { ChatRequest } from './schemas.ts';

type Message = ChatRequest['messages'][number];

export function callTold({ name, arguments: text }: ToolCall) {
  return { function: { name, arguments: argumentsOf(text) } };
}

/** Messages whose calls have ids, as in OpenAI's form. */
export function withCallIds(messages: readonly Message[]) {
  let count = 0;
  return messages.map(({ tool_calls: calls = [], ...message }) => ({
    ...message,
    tool_calls: calls.map(({ function: called }) => {
      const given = JSON.stringify(called.arguments);
      return {
        id: `call_${count++}`,
        type: 'function' as const,
        function: { name: called.name, arguments: given },
      };
    }),
  }));
}
