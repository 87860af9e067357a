import { Lexer, Marked, type MarkedToken, type Token, type Tokens, type TokenizerExtension } from 'marked';

/** A formula: `$…$`, `\(…\)`, or as a block `$$…$$`, `\[…\]`. */
export interface MathToken {
  type: 'math';
  raw: string;
  text: string;
  display: boolean;
  /** false: its end has not arrived yet. */
  closed: boolean;
}

/** The end of a sentence, to be marked with its sources. */
interface CiteToken {
  type: 'cite';
  raw: string;
  /** Of the sentence. */
  index: number;
}

/** All token types that the window renders. */
export type MarkdownToken = MarkedToken | MathToken | CiteToken;

const CITE = /\uE000(\d+)\uE001/;

/** Marks the end of the sentence with this index in a text to be parsed. The characters are for private use: no text has them. */
export function citeMark(index: number): string {
  return `\uE000${index}\uE001`;
}

/** A text without such marks, for what is shown as it is written. */
export function withoutCites(text: string): string {
  return text.replaceAll(new RegExp(CITE, 'g'), '');
}

const BLOCK_MATH =
  /^ {0,3}(?:\$\$([\s\S]*?)(\$\$|$(?![\s\S]))|\\\[([\s\S]*?)(\\\]|$(?![\s\S])))[ \t]*(?:\n+|$)/;
/** A dollar before a digit does not close and one before a space does not open a formula: prices are not formulas. */
const INLINE_MATH =
  /^(?:\$\$([^$]+?)\$\$|\$(?![\s$])((?:\\.|[^$\\\n])*?[^\s$\\])\$(?!\d)|\\\(([\s\S]+?)\\\))/;

const blockMath: TokenizerExtension = {
  name: 'math',
  level: 'block',
  start: (source) => /(?:^|\n) {0,3}(?:\$\$|\\\[)/.exec(source)?.index,
  tokenizer(source) {
    const match = BLOCK_MATH.exec(source);
    if (!match) return undefined;
    const text = (match[1] ?? match[3] ?? '').trim();
    return { type: 'math', raw: match[0], text, display: true, closed: (match[2] ?? match[4]) !== '' };
  },
};

const inlineMath: TokenizerExtension = {
  name: 'inlineMath',
  level: 'inline',
  start: (source) => /\$|\\\(/.exec(source)?.index,
  tokenizer(source) {
    const match = INLINE_MATH.exec(source);
    if (!match) return undefined;
    const text = (match[1] ?? match[2] ?? match[3] ?? '').trim();
    return { type: 'math', raw: match[0], text, display: match[1] !== undefined, closed: true };
  },
};

const inlineCite: TokenizerExtension = {
  name: 'cite',
  level: 'inline',
  start: (source) => CITE.exec(source)?.index,
  tokenizer(source) {
    const match = CITE.exec(source);
    if (match?.index !== 0) return undefined;
    return { type: 'cite', raw: match[0], index: Number(match[1]) };
  },
};

const marked = new Marked({ gfm: true, extensions: [blockMath, inlineMath, inlineCite] });

/** Link targets by reference, as defined so far. */
export type Links = Lexer['tokens']['links'];

/** Deeper nesting is shown as plain text: nobody writes it, but models that repeat themselves do. */
const MAX_DEPTH = 32;

/** The blocks of a text, and the link targets it defines; `known` are those defined before it. */
export function lex(text: string, known: Links = {}): { blocks: MarkdownToken[]; links: Links } {
  const lexer = new Lexer(marked.defaults);
  Object.assign(lexer.tokens.links, known);
  try {
    const blocks = [...lexer.lex(text)];
    flatten(blocks, 0);
    return { blocks: blocks as MarkdownToken[], links: lexer.tokens.links };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    // Nested so deeply that the stack overflowed.
    const plain: Tokens.Paragraph = {
      type: 'paragraph',
      raw: text,
      text,
      tokens: [asWritten({ raw: text })],
    };
    return { blocks: [plain], links: known };
  }
}

/** Truncates the tree below MAX_DEPTH, in place. */
function flatten(tokens: Token[], depth: number): void {
  for (const [i, token] of tokens.entries()) {
    const inside = childLists(token);
    if (depth >= MAX_DEPTH && inside.length > 0) tokens[i] = asWritten(token);
    else for (const children of inside) flatten(children, depth + 1);
  }
}

function childLists(token: Token): Token[][] {
  switch (token.type) {
    case 'list':
      return (token as Tokens.List).items.map(({ tokens }) => tokens);
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows].flat().map(({ tokens }) => tokens);
    }
    default: {
      const { tokens } = token as { tokens?: Token[] };
      return tokens ? [tokens] : [];
    }
  }
}

function asWritten({ raw }: { raw: string }): Tokens.Text {
  return { type: 'text', raw, text: raw, escaped: false };
}

export function childrenOf(token: { tokens?: Token[] | undefined }): MarkdownToken[] {
  return (token.tokens ?? []) as MarkdownToken[];
}

export type { Tokens };
