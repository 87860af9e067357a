import type { CitedSentence } from '../../../../src-shared/contract/chat.ts';
import type { ToolCall } from '../../../../src-shared/contract/tool-calls.ts';
import { citedText, oneLine } from '../../../../src-shared/source-list.ts';

/** A stretch of an answer's text, and the calls made directly before it. */
export interface TextPart {
  /** UTF-16 offset in the answer. */
  start: number;
  text: string;
  calls: ToolCall[];
}

/** An answer's text in parts, one for each place where tools were called. The first part may have no calls. */
export function partsOf(text: string, calls: readonly ToolCall[]): TextPart[] {
  const places = calls.map(({ offset }) => Math.min(offset, text.length));
  const starts = [...new Set([0, ...places])].sort((a, b) => a - b);
  return starts.map((start, i) => ({
    start,
    text: text.slice(start, starts[i + 1]),
    calls: calls.filter((_, call) => places[call] === start),
  }));
}

/** Sentences that end in a part, by their index in the answer. `end` is an offset in the part. */
export function sentencesIn(
  { start, text }: Pick<TextPart, 'start' | 'text'>,
  sentences: readonly CitedSentence[],
): (CitedSentence & { index: number })[] {
  return sentences
    .map((sentence, index) => ({ ...sentence, index, end: sentence.end - start }))
    .filter(({ end }) => end > 0 && end <= text.length);
}

/** An answer to be copied, with numbers of sources after these sentences and a line for each call that `lineOf` has words for. */
export function copyText(
  { text, calls }: { text: string; calls: readonly ToolCall[] },
  sentences: readonly CitedSentence[] = [],
  lineOf: (call: ToolCall) => string = () => '',
): string {
  const paragraphs = partsOf(text, calls).flatMap((part) => [
    part.calls.map(lineOf).join('\n'),
    citedText(part.text, sentencesIn(part, sentences)),
  ]);
  const trimmed = paragraphs.map((paragraph) => paragraph.trim());
  return trimmed.filter((paragraph) => paragraph !== '').join('\n\n');
}

/** Whether every call has ended and nothing was written since: the model reads what they returned. */
export function isReadingResult({ text, calls }: { text: string; calls: readonly ToolCall[] }): boolean {
  const last = calls.at(-1);
  if (!last || calls.some(({ state }) => state === 'asking' || state === 'running')) return false;
  return text.slice(last.offset).trim() === '';
}

/** Longer values are cut. */
const MAX_VALUE = 120;

/** A call's arguments in one line: the value if there is one, else "name: value, …". */
export function argumentLine(args: string): string {
  const parsed = parsedObject(args);
  if (!parsed) return short(args);
  const entries = Object.entries(parsed);
  const [only] = entries;
  if (entries.length === 1 && only) return short(words(only[1]));
  return entries.map(([name, value]) => `${name}: ${short(words(value))}`).join(', ');
}

/** Arguments or a result as indented JSON if they are JSON, else as they are. */
export function asCode(text: string): { code: string; language: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object') return { code: JSON.stringify(value, null, 2), language: 'json' };
  } catch {
    // No JSON.
  }
  return { code: text, language: '' };
}

function parsedObject(args: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(args);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Shown as it is.
  }
  return undefined;
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function short(text: string): string {
  const line = oneLine(text);
  return line.length > MAX_VALUE ? `${line.slice(0, MAX_VALUE)}…` : line;
}

/** The description of the tool with a title: a call does not say its server's name for the tool. '' unless exactly one has the title. */
export function onlyDescription(
  tools: readonly { title: string; description: string }[],
  title: string,
): string {
  const [tool, ...others] = tools.filter((each) => each.title === title);
  return tool && others.length === 0 ? tool.description : '';
}
