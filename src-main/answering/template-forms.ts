import type { TemplateMessage } from './template-messages.ts';

/**
 * The forms in which a template is offered a conversation, as given first. Templates differ in what they accept: some take a system message
 * only at the beginning, some none, and some want a user's message first.
 */
export function conversationForms(messages: readonly TemplateMessage[]): TemplateMessage[][] {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const [system, others] = [messages.slice(0, Math.max(0, first)), messages.slice(Math.max(0, first))];
  const rest = folded(others);
  const opening: TemplateMessage[] = rest[0]?.role === 'assistant' ? [{ role: 'user', content: [] }] : [];
  return [
    [...messages],
    [...merged(system), ...rest],
    [...merged(system), ...opening, ...rest],
    folded(messages),
  ];
}

/** Prepends each system message to the user's next message, and merges consecutive messages of one role. */
function folded(messages: readonly TemplateMessage[]): TemplateMessage[] {
  return merged(messages.map((each) => (each.role === 'system' ? { ...each, role: 'user' } : each)));
}

/** Consecutive messages of one role as one, apart from calls and their results. */
function merged(messages: readonly TemplateMessage[]): TemplateMessage[] {
  const all: TemplateMessage[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (!last || last.role !== message.role || last.role === 'tool' || last.calls) {
      all.push(message);
      continue;
    }
    const gap = last.content.length > 0 && message.content.length > 0 ? ['\n\n'] : [];
    all[all.length - 1] = { ...message, content: [...last.content, ...gap, ...message.content] };
  }
  return all;
}
