import { lex, type Links, type MarkdownToken } from './tokens.ts';

/** A text that grows, cut into Markdown blocks of which all but the last few are finished and never read again. */
export interface Split {
  readonly finished: readonly MarkdownToken[];
  /** Blocks that more text may still change. */
  readonly open: readonly MarkdownToken[];
  /** The source of the open blocks. */
  readonly tail: string;
  readonly links: Links;
}

export const EMPTY_SPLIT: Split = { finished: [], open: [], tail: '', links: {} };

/** Takes more text in; only the open blocks are read again. */
export function append(split: Split, more: string): Split {
  if (more === '') return split;
  const tail = split.tail + more;
  const { blocks, links } = lex(tail, split.links);
  const settled = settledCount(blocks);
  if (settled === 0) return { finished: split.finished, open: blocks, tail, links: split.links };
  const done = blocks.slice(0, settled);
  const length = done.reduce((sum, { raw }) => sum + raw.length, 0);
  return {
    finished: [...split.finished, ...done],
    open: blocks.slice(settled),
    tail: tail.slice(length),
    links,
  };
}

/** How many of the blocks nothing can change that comes after: those before the last one of which a whole line is there. */
function settledCount(blocks: readonly MarkdownToken[]): number {
  for (let i = blocks.length - 1; i > 0; i--) {
    const block = blocks[i];
    if (block && block.type !== 'space' && block.raw.includes('\n')) return i;
  }
  return 0;
}
