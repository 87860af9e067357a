import { lex, type Links, type MarkdownToken } from './tokens.ts';

/** A growing text, split into Markdown blocks. All but the last few are final and never parsed again. */
export interface BlockSplit {
  readonly finished: readonly MarkdownToken[];
  /** Blocks that more text may still change. */
  readonly open: readonly MarkdownToken[];
  /** Source of the open blocks. */
  readonly tail: string;
  readonly links: Links;
}

export const EMPTY_SPLIT: BlockSplit = { finished: [], open: [], tail: '', links: {} };

/** A mark for a text, this many characters before its end. */
interface Insert {
  fromEnd: number;
  mark: string;
}

/** Appends text; only the open blocks are parsed again. `inserts`, ascending, are put into them; those for finished blocks are dropped. */
export function append(split: BlockSplit, more: string, inserts: readonly Insert[] = []): BlockSplit {
  let tail = split.tail + more;
  for (const { fromEnd, mark } of inserts) {
    const at = tail.length - fromEnd;
    if (at >= 0) tail = tail.slice(0, at) + mark + tail.slice(at);
  }
  if (tail === split.tail) return split;
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

/** Number of final blocks: those before the last block of which a whole line has arrived. */
function settledCount(blocks: readonly MarkdownToken[]): number {
  for (let i = blocks.length - 1; i > 0; i--) {
    const block = blocks[i];
    if (block && block.type !== 'space' && block.raw.includes('\n')) return i;
  }
  return 0;
}
