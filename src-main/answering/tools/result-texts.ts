import type { ModelInfo } from '../../engine/engine.ts';
import { messagesFrame, type FrameMessage } from '../template.ts';
import { toolsUnsupported, type Tool, type ToolCall } from '../tools.ts';
import { toolFormatOf } from './formats.ts';
import type { ToolFormat } from './format.ts';

interface ResultStep {
  calls: readonly ToolCall[];
  /** One for each of the calls. */
  results: readonly string[];
  /** The answer with the calls, as the model wrote it. */
  written: string;
  tools: readonly Tool[];
  think: boolean;
}

/**
 * What follows an answer that called tools: results, each after the text of the template before it, and the text behind all of them. As in
 * MessagesFrame. BAD_ARGUMENT where the template cannot show calls and results.
 */
export function resultTexts(
  info: Pick<ModelInfo, 'chatTemplate' | 'bosText' | 'eosText' | 'name'>,
  { calls, results, written, tools, think }: ResultStep,
): { texts: { frame: string; result: string }[]; behind: string } {
  const messages: FrameMessage[] = [
    { role: 'user' },
    { role: 'assistant', text: '', calls },
    ...calls.map(({ id }) => ({ role: 'tool' as const, callId: id })),
  ];
  const { texts, plainBecause } = messagesFrame(info, messages, { think, tools });
  const format = toolFormatOf(info.chatTemplate);
  if (plainBecause !== undefined || !format) throw toolsUnsupported(info.name, plainBecause);
  const [, first = '', ...others] = texts;
  const frames = [first.slice(endOfAnswer(first, { calls, written, tools, format })), ...others];
  const behind = frames.pop() ?? '';
  return { texts: frames.map((frame, i) => ({ frame, result: results[i] ?? '' })), behind };
}

/** Where a rendered answer with calls ends, as far as the model writes it: behind the last call and the text that closes it. */
function endOfAnswer(
  rendered: string,
  { calls, written, tools, format }: Pick<ResultStep, 'calls' | 'written' | 'tools'> & { format: ToolFormat },
): number {
  const endIn = (text: string): number =>
    calls.reduce((at) => at + (format.read(text.slice(at), tools)?.end ?? 0), 0);
  const end = endIn(rendered);
  const closing = written.slice(endIn(written)).trim();
  const at = rendered.indexOf(closing, end);
  return at < 0 ? end : at + closing.length;
}
