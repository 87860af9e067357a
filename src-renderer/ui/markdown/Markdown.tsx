import { memo } from 'react';
import { Block } from './Block.tsx';
import type { MarkdownToken } from './tokens.ts';
import classes from './Markdown.module.css';

/**
 * Blocks of a text that may still grow; unchanged blocks are not rendered again. Raw HTML is shown as text, images are
 * not loaded, unsafe links are disabled.
 */
export function MarkdownBlocks({ blocks }: { blocks: readonly MarkdownToken[] }) {
  return (
    <div className={classes.markdown}>
      {blocks.map((token, index) => token.type !== 'space' && <SettledBlock key={index} token={token} />)}
    </div>
  );
}

const SettledBlock = memo(Block, (a, b) => a.token.type === b.token.type && a.token.raw === b.token.raw);
