import { backendOf, requireLocal } from '../answering/backends/backend-of.ts';
import type { NamedModel } from '../answering/named-model.ts';
import { messagesFrame } from '../answering/template.ts';
import type { Tool } from '../answering/tools.ts';
import { toolFormatOf } from '../answering/tools/formats.ts';

const SAMPLE: Tool = {
  name: 'sample_tool',
  description: 'A sample.',
  parameters: { type: 'object', properties: {} },
};

/** Whether a model's template declares tools, and its calls can be read. Nothing is known of a model on a server. */
export function callsTools(named: NamedModel): boolean {
  if (!backendOf(named.model).takesGrammar) return false;
  const { info } = requireLocal(named);
  if (!toolFormatOf(info.chatTemplate)) return false;
  const { texts, plainBecause } = messagesFrame(info, [{ role: 'user' }], { tools: [SAMPLE] });
  return plainBecause === undefined && texts.join('').includes(SAMPLE.name);
}
