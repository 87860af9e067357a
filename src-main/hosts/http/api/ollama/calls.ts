import type { ToolCall } from '../../../../answering/tools.ts';
import { argumentsOf } from '../tools.ts';
import type { ChatRequest } from './schemas.ts';

type Message = ChatRequest['messages'][number];

export function callTold({ name, arguments: text }: ToolCall) {
  return { function: { name, arguments: argumentsOf(text) } };
}

/** Messages with the ids that calls and results have in OpenAI's form: a result answers the first open call of its tool, or of any. */
export function withCallIds(messages: readonly Message[]) {
  const open: { id: string; name: string }[] = [];
  let count = 0;
  return messages.map(({ tool_calls: calls, tool_name: name, ...message }) => {
    if (message.role === 'tool') {
      const at = Math.max(0, name === undefined ? 0 : open.findIndex((call) => call.name === name));
      return { ...message, tool_call_id: open.splice(at, 1)[0]?.id ?? '' };
    }
    const told = (calls ?? []).map(({ function: called }) => {
      const id = `call_${count++}`;
      open.push({ id, name: called.name });
      const text = JSON.stringify(called.arguments);
      return { id, type: 'function' as const, function: { name: called.name, arguments: text } };
    });
    return { ...message, tool_calls: told };
  });
}
