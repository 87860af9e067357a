import { decode, markOf, markText } from './text-units.ts';

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** One append: text, or a passage, which is separated from its surroundings. */
export interface Run {
  tokens: Int32Array;
  passage: boolean;
}

/**
 * The "chat template" of a model whose server applies its own: marks around messages, from which messagesOf() restores
 * them.
 */
export const MESSAGES_TEMPLATE = [
  `{%- for message in messages -%}`,
  `{%- if message.role == 'system' -%}${markText('system')}`,
  `{%- elif message.role == 'assistant' -%}${markText('assistant')}`,
  `{%- else -%}${markText('user')}{%- endif -%}`,
  `{{- message.content -}}${markText('end')}`,
  `{%- endfor -%}`,
  `{%- if add_generation_prompt -%}${markText('assistant')}{%- endif -%}`,
].join('');

/** Sent to a server that cannot continue an assistant message: nearly none can. */
const GO_ON = 'Go on exactly where your answer stopped. Repeat nothing of it.';

/** Separates passages if no separator is set. */
const PARAGRAPHS = '\n\n';

/**
 * Restores a prompt's messages. Passages are joined by the separator, which also comes before the first and after the
 * last of them: LMCache splits prompts there, and a passage has the same text at any position. An answer that has begun
 * is continued.
 */
export function messagesOf(runs: readonly Run[], separator: string): ChatMessage[] {
  const messages: (Pick<ChatMessage, 'role'> & { pieces: Piece[] })[] = [];
  let thinking = false;
  for (const { tokens, passage } of runs) {
    let from = 0;
    const take = (to: number): void => {
      const text = thinking ? '' : decode(tokens.subarray(from, to));
      if (text !== '') messages.at(-1)?.pieces.push({ text, passage });
      from = to + 1;
    };
    for (const [at, id] of tokens.entries()) {
      const mark = markOf(id);
      if (mark === undefined) continue;
      take(at);
      if (mark === 'think' || mark === 'thought') thinking = mark === 'think';
      else if (mark !== 'end') messages.push({ role: mark, pieces: [] });
    }
    take(tokens.length);
  }
  const written = messages.map(({ role, pieces }) => ({ role, content: joined(pieces, separator) }));
  const last = written.at(-1);
  if (last?.role !== 'assistant') return written;
  return last.content === '' ? written.slice(0, -1) : [...written, { role: 'user', content: GO_ON }];
}

/** Whether a prompt ends inside an unfinished thought. */
export function endsInThought(runs: readonly Run[]): boolean {
  for (const { tokens } of runs.toReversed()) {
    const mark = tokens.findLast((id) => markOf(id) !== undefined);
    if (mark !== undefined) return markOf(mark) === 'think';
  }
  return false;
}

interface Piece {
  text: string;
  passage: boolean;
}

function joined(pieces: readonly Piece[], separator: string): string {
  const between = separator === '' ? PARAGRAPHS : separator;
  let text = '';
  let apart = false;
  for (const piece of pieces) {
    if ((apart || piece.passage) && (text !== '' || separator !== '')) text += between;
    text += piece.passage ? piece.text.trimEnd() : piece.text;
    apart = piece.passage;
  }
  return text;
}
