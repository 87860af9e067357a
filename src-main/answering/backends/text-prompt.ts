import type { KvasirError } from '../../../src-shared/errors.ts';
import type { ChatMessage } from '../../models/sources/servers/client.ts';
import type { ServerModel } from '../../models/sources/servers/server-model.ts';
import { fitted, type Message, type Prompt, type PromptRequest } from '../prompt.ts';
import type { MessageCalls } from '../template-messages.ts';
import type { ToolStep } from './backend.ts';
import { contextOverflow, questionTooLong } from './token-prompt.ts';

interface TextPart {
  kind: 'text' | 'chunk';
  text: string;
  turn: number;
}

/** A prompt as messages, which the server puts into its model's template. */
export interface TextPrompt extends Prompt {
  parts: TextPart[];
  messages: ({ role: Message['role']; parts: TextPart[] } & MessageCalls)[];
}

/** Sent to a server that cannot continue an assistant message: nearly none can. */
const GO_ON = 'Go on exactly where your answer stopped. Repeat nothing of it.';

/** Separates passages if no separator is set. */
const PARAGRAPHS = '\n\n';

/** A prompt for a model on a server; its tokens are estimated. QUESTION_TOO_LONG for a conversation, else CONTEXT_OVERFLOW. */
export function textPrompt(model: Pick<ServerModel, 'tokenize'>, request: PromptRequest): TextPrompt {
  return fitted(
    request,
    (messages) => layOut(messages, model, request),
    (tokens) => (request.form === 'conversation' ? questionTooLong(tokens, request) : promptTooLong()),
  );
}

function layOut(
  messages: readonly Message[],
  model: Pick<ServerModel, 'tokenize'>,
  { form, tools }: PromptRequest,
): TextPrompt {
  const cited: Prompt['cited'] = [];
  const parts: TextPart[] = [];
  let turn = -1;
  const laidOut = messages.map(({ role, pieces, isRead, calls, callId }, i) => {
    if (role === 'user') turn++;
    const own: TextPart[] = [];
    for (const piece of pieces) {
      const text = typeof piece === 'string' ? piece : piece.text;
      const known = parts.findIndex(
        (part) => form === 'conversation' && part.kind === 'chunk' && part.turn < turn && part.text === text,
      );
      const isChunk = typeof piece !== 'string';
      if (isChunk && 'tokens' in piece && i === messages.length - 1)
        cited.push({ chunk: piece, part: known < 0 ? parts.length : known });
      if (isChunk && known >= 0) continue; // the server was sent it before
      const part: TextPart = { kind: isChunk ? 'chunk' : 'text', text: isRead ? text.trim() : text, turn };
      parts.push(part);
      own.push(part);
    }
    return { role, parts: own, calls, callId };
  });
  const told = [...(tools?.tools ?? []), ...messages.flatMap(({ calls = [] }) => calls)].map((each) =>
    JSON.stringify(each),
  );
  const texts = [...parts.map(({ text }) => text), ...told];
  const tokens = texts.reduce((total, text) => total + model.tokenize(text).length, 0);
  return { parts, messages: laidOut, tokens, cited, leftOut: [], turnsLeftOut: 0, plainBecause: undefined };
}

/** A prompt followed by an answer that called tools, and their results. */
export function withResults(
  prompt: TextPrompt,
  { turn: { text }, calls, results }: ToolStep,
  model: Pick<ServerModel, 'tokenize'>,
): TextPrompt {
  const turn = prompt.parts.at(-1)?.turn ?? 0;
  const parts = (...texts: string[]): TextPart[] => texts.map((each) => ({ kind: 'text', text: each, turn }));
  const answer = { role: 'assistant' as const, parts: text === '' ? [] : parts(text), calls };
  const told = calls.map(({ id }, i) => {
    return { role: 'tool' as const, parts: parts(results[i] ?? ''), callId: id };
  });
  const tokens = [JSON.stringify(calls), text, ...results].map((each) => model.tokenize(each).length);
  return {
    ...prompt,
    parts: [...prompt.parts, ...answer.parts, ...told.flatMap((message) => message.parts)],
    messages: [...prompt.messages, answer, ...told],
    tokens: prompt.tokens + tokens.reduce((sum, count) => sum + count, 0),
  };
}

/**
 * A prompt's messages. Passages are joined by the separator, which also comes before the first and after the last of them: LMCache splits
 * prompts there, and a passage has the same text at any position. An answer that has begun is continued.
 */
export function messagesOf(
  { messages }: Pick<TextPrompt, 'messages'>,
  separator: string,
  begun: string,
): ChatMessage[] {
  const written = messages.map((message) => messageOf(message, joined(message.parts, separator)));
  if (begun === '') return written;
  return [...written, { role: 'assistant', content: begun }, { role: 'user', content: GO_ON }];
}

function messageOf({ role, calls, callId }: TextPrompt['messages'][number], content: string): ChatMessage {
  if (role === 'tool') return { role, content, tool_call_id: callId ?? '' };
  if (role !== 'assistant' || !calls) return { role, content };
  const sent = calls.map(({ id, ...called }) => ({ id, type: 'function' as const, function: called }));
  return { role, content: content === '' ? null : content, tool_calls: sent };
}

function joined(parts: readonly TextPart[], separator: string): string {
  const between = separator === '' ? PARAGRAPHS : separator;
  let text = '';
  let apart = false;
  for (const part of parts) {
    const isChunk = part.kind === 'chunk';
    if ((apart || isChunk) && (text !== '' || separator !== '')) text += between;
    text += isChunk ? part.text.trimEnd() : part.text;
    apart = isChunk;
  }
  return text;
}

/** Without a count: it is only estimated. */
function promptTooLong(): KvasirError {
  return contextOverflow(
    'The prompt exceeds the context of this remote model, and the answer needs room as well.',
  );
}
