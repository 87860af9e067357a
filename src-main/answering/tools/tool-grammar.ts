import type { ToolRequest } from '../tools.ts';
import type { ToolFormat } from './format.ts';
import { GrammarRules, quoted } from './grammar-rules.ts';

interface ToolGrammarOptions {
  /** Marks around a thought before the answer; `begin` is '' where the prompt opened it. */
  thought?: { begin: string; end: string } | undefined;
  /** Grammar of an answer without calls; absent: any text. */
  answer?: string | undefined;
}

/** The grammar of an answer that may call tools, or must: arguments match their schemas. BAD_ARGUMENT for a strict tool. */
export function toolGrammar(
  format: ToolFormat,
  { tools, choice, allowed, parallel }: ToolRequest,
  { thought, answer }: ToolGrammarOptions = {},
): string {
  const rules = new GrammarRules();
  const head = thought ? `${thoughtRule(rules, thought)} ` : '';
  const text = (): string => rules.until(format.marks, { bare: format.bare ?? false });
  if (choice === 'none') return rules.text(`${head}${text()}`);
  const names = typeof choice === 'object' ? [choice.name] : allowed;
  const may = names ? tools.filter(({ name }) => names.includes(name)) : tools;
  const call = rules.rule(may.map((tool) => format.call(tool, rules)).join(' | '));
  const { before = '', after = '', separator } = format;
  const more = parallel && separator !== undefined ? `(${quoted(separator)} ${call})*` : '';
  const calls = rules.rule([quoted(before), call, more, quoted(after)].join(' '));
  if (choice !== 'auto') return rules.text(`${head}${calls}`);
  if (answer !== undefined) return rules.text(`${head}(${calls} | ${rules.add(answer)})`);
  return rules.text(format.bare ? `${head}(${calls} | ${text()})` : `${head}${text()} ${calls}?`);
}

/** A thought that the prompt opened has an end; another may be left out. */
function thoughtRule(rules: GrammarRules, { begin, end }: { begin: string; end: string }): string {
  const rest = `${rules.until([end])} ${quoted(end)} [ \\n]{0,2}`;
  return begin === '' ? rest : `([ \\n]{0,2} ${quoted(begin)} ${rest})?`;
}
