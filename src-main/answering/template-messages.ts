import type { CallWriter } from './call-texts.ts';
import type { ToolCall } from './tools.ts';

export type Role = 'system' | 'user' | 'assistant' | 'tool';

/** The calls of an assistant's message, or the call whose result a message is. */
export interface MessageCalls {
  calls?: readonly ToolCall[] | undefined;
  callId?: string | undefined;
}

/** A message to render: numbers are placeholders, numbered from 0 across all messages. */
export interface TemplateMessage extends MessageCalls {
  role: Role;
  content: readonly (string | number)[];
}

/** How messages are given to a template; templates differ. */
export interface MessageForm {
  /** Whether arguments of calls are JSON text. */
  textArguments?: boolean | undefined;
  noContent?: '' | null | undefined;
  /** Writes calls into the content, for a template that drops them. */
  writtenCalls?: CallWriter | undefined;
  /** Whether content is a list of texts, as templates of models that see pictures may want it. */
  listContent?: boolean | undefined;
  withoutCalls?: boolean | undefined;
}

/** A private-use character, as for placeholders. */
export const SYSTEM_EDGE = '\uE001';

/**
 * Placeholders are private-use characters: no template writes or trims them, and `upper`/`lower` filters leave them alone. Border, number
 * in two digits, border.
 */
const HOLE = /\uE000([\uE010-\uF00F])([\uE010-\uF00F])\uE000/u;
const FIRST_DIGIT = 0xe010;
const DIGITS = 0x1000;

export function edged(text: string): string {
  if (text === '') return '';
  return SYSTEM_EDGE + text.trim().replaceAll(SYSTEM_EDGE, '') + SYSTEM_EDGE;
}

function hole(number: number): string {
  const digits = [Math.floor(number / DIGITS), number % DIGITS];
  return `\uE000${String.fromCharCode(...digits.map((digit) => FIRST_DIGIT + digit))}\uE000`;
}

/** undefined when a placeholder is missing, duplicated or out of order. */
export function splitAtHoles(text: string, holes: number): string[] | undefined {
  const pieces = text.split(HOLE); // text, digit, digit, text, digit, digit, …, text
  const found = pieces.flatMap((piece, i) =>
    i % 3 === 1 ? [`\uE000${piece}${pieces[i + 1] ?? ''}\uE000`] : [],
  );
  const wanted = Array.from({ length: holes }, (_, i) => hole(i));
  return found.join('') === wanted.join('') ? pieces.filter((_, i) => i % 3 === 0) : undefined;
}

/** Characters of which every control token has one. */
const MAY_BE_CONTROL = /[<>[\]|｜]/;

const RESERVED = /[\uE000\uE001]/g;

/** A value with edges around its texts that could contain control tokens. */
export function guarded(value: unknown): unknown {
  if (typeof value === 'string') {
    const text = value.replaceAll(RESERVED, '');
    return MAY_BE_CONTROL.test(text) ? SYSTEM_EDGE + text + SYSTEM_EDGE : text;
  }
  if (Array.isArray(value)) return value.map(guarded);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [guarded(key) as string, guarded(item)]),
  );
}

/** Messages as templates read them. Calls are numbered: Mistral's templates want ids of nine letters and digits. */
export function templateMessages(
  messages: readonly TemplateMessage[],
  {
    textArguments = false,
    noContent = '',
    writtenCalls,
    withoutCalls = false,
    listContent = false,
  }: MessageForm,
): object[] {
  const ids = messages.flatMap(({ calls = [] }) => calls.map(({ id, name }) => ({ id, name })));
  const idOf = (id: string): string =>
    `call${String(ids.findIndex((each) => each.id === id) + 1).padStart(5, '0')}`;
  return messages.map(({ role, content, calls, callId }) => {
    const shown = withoutCalls
      ? []
      : (calls ?? []).map(({ id, name, arguments: given }) => {
          return { id: idOf(id), name: guarded(name), arguments: guarded(parsedObject(given)) };
        });
    const written = writtenCalls && shown.length > 0 ? writtenCalls(shown) : '';
    const said = content.map((piece) => (typeof piece === 'number' ? hole(piece) : piece)).join('');
    return {
      role,
      content: listContent ? [{ type: 'text', text: said + written }] : said + written || noContent,
      ...(shown.length > 0 &&
        !writtenCalls && {
          tool_calls: shown.map(({ id, ...call }) => {
            const given = textArguments ? JSON.stringify(call.arguments) : call.arguments;
            return { id, type: 'function', function: { ...call, arguments: given } };
          }),
        }),
      ...(callId !== undefined && {
        tool_call_id: idOf(callId),
        name: guarded(ids.find(({ id }) => id === callId)?.name ?? ''),
      }),
    };
  });
}

/** The arguments of a call; {} where they are not an object: an answer may have ended within them. */
function parsedObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

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
