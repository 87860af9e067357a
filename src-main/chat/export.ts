import type { Conversation, Message } from '../../src-shared/contract/chat.ts';
import type { ToolCall } from '../../src-shared/contract/tool-calls.ts';
import { citedText, oneLine, sourceList, type SourceWords } from '../../src-shared/source-list.ts';
import { statsLine } from '../answering/stats-line.ts';
import { fileName, quoted } from '../platform/markdown.ts';

const WORDS: SourceWords = {
  title: 'Sources:',
  page: (label) => `page ${label}`,
  part: (number) => `part ${number}`,
};

export interface ExportFile {
  fileName: string;
  mediaType: string;
  content: string;
}

/** Markdown: the visible branch, with sources. JSON: every branch. Thoughts only on request. */
export function exportConversation(
  { messages, ...rest }: Conversation,
  { format, thinking }: { format: 'markdown' | 'json'; thinking: boolean },
): ExportFile {
  const shown = thinking ? messages : messages.map((message) => ({ ...message, thinking: null }));
  const conversation = { ...rest, messages: shown };
  const name = fileName(conversation.title, 'conversation');
  return format === 'json'
    ? {
        fileName: `${name}.json`,
        mediaType: 'application/json',
        content: `${JSON.stringify({ kvasirConversation: 1, ...conversation }, null, 2)}\n`,
      }
    : { fileName: `${name}.md`, mediaType: 'text/markdown', content: toMarkdown(conversation) };
}

/** From the first message to the visible leaf. */
function shownBranch({ messages, leafId }: Conversation): Message[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const branch: Message[] = [];
  for (let at = leafId; at !== null;) {
    const message = byId.get(at);
    if (!message) break;
    branch.unshift(message);
    at = message.parentId;
  }
  return branch;
}

function toMarkdown(conversation: Conversation): string {
  const date = new Date(conversation.createdMs).toISOString().slice(0, 10);
  const blocks = [`# ${oneLine(conversation.title) || 'Conversation'}`, date];
  for (const message of shownBranch(conversation)) {
    if (message.role === 'user') blocks.push(`## ${oneLine(message.text)}`);
    if (message.role === 'user' && message.text.includes('\n')) blocks.push(quoted(message.text));
    if (message.role === 'assistant') blocks.push(...answerBlocks(message));
  }
  return `${blocks.join('\n\n')}\n`;
}

function answerBlocks({
  text,
  thinking,
  calls,
  state,
  failure,
  notices,
  citations,
  stats,
}: Message): string[] {
  const blocks = thinking ? ['*Thought:*', quoted(thinking.text)] : [];
  if (text !== '') blocks.push(citedText(text, stats?.sentences));
  blocks.push(...calls.map(callLine));
  if (state === 'stopped') blocks.push('*Stopped here.*');
  if (failure) blocks.push(`*Failed: ${failure.message}*`);
  blocks.push(...notices.map(({ message }) => `> ${message}`));
  if (citations.length > 0) blocks.push(sourceList(citations, WORDS));
  if (stats) blocks.push(`*${stats.model}. ${statsLine(stats)}*`);
  return blocks;
}

function callLine({ name, server, arguments: given, state }: ToolCall): string {
  const called = `${server === null ? '' : `${server}: `}${name}(${oneLine(given)})`;
  return `*Tool ${state === 'done' ? 'used' : state}:* \`${called.replaceAll('`', "'")}\``;
}
