import { backendOf, requireLocal } from '../backends/backend-of.ts';
import type { NamedModel } from '../named-model.ts';
import { messagesFrame } from '../template.ts';
import { thoughtMarks } from '../thoughts.ts';
import { toolsUnsupported, type ToolRequest } from '../tools.ts';
import { toolFormatOf } from './formats.ts';
import { toolGrammar } from './tool-grammar.ts';

/**
 * The grammar of an answer that may call tools; `answer`: that of one without calls. undefined for a model on a server. BAD_ARGUMENT where the
 * model's format is unknown, and for a strict tool whose schema a grammar cannot hold.
 */
export function grammarFor(
  tools: ToolRequest,
  named: NamedModel,
  { answer, think }: { answer: string | undefined; think: boolean },
): string | undefined {
  if (!backendOf(named.model).takesGrammar) return answer;
  const { info } = requireLocal(named);
  const format = toolFormatOf(info.chatTemplate);
  if (!format) throw toolsUnsupported(named.name);
  const behind = messagesFrame(info, [{ role: 'user' }], { think, tools: tools.tools }).texts.at(-1) ?? '';
  return toolGrammar(format, tools, { answer, thought: thoughtMarks(info.chatTemplate, behind) });
}
