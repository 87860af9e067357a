import type { Tool } from '../tools.ts';
import type { GrammarRules } from './grammar-rules.ts';

/** A call, as far as a text has it. */
export interface PartialCall {
  name: string;
  /** A JSON object as text; each longer text of the same call begins with it. */
  arguments: string;
  /** UTF-16 units up to the end of the call; undefined while it is incomplete. */
  end: number | undefined;
}

/** How the models of a family write calls. */
export interface ToolFormat {
  /** Texts that begin calls, anywhere in an answer. */
  marks: readonly string[];
  /** Whether an answer that begins with a brace is a call, without a mark. */
  bare?: boolean | undefined;
  /** The first call in a text; undefined while its name is incomplete. */
  read: (text: string, tools: readonly Tool[]) => PartialCall | undefined;
  call: (tool: Tool, rules: GrammarRules) => string;
  /** Text around all calls and between two of them. Without a separator an answer has one call. */
  before?: string | undefined;
  after?: string | undefined;
  separator?: string | undefined;
}

/** A format, and a text that the chat templates with it have. */
export type FormatRow = readonly [name: string, isOf: RegExp, format: ToolFormat];
