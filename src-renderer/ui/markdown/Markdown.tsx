import { memo } from 'react';
import { Block } from './Block.tsx';
import type { MarkdownToken } from './tokens.ts';
import classes from './Markdown.module.css';

/**
 * Blocks of a text that may still grow: those that did not change are not drawn again. Raw HTML is shown as it is written, images are
 * not loaded, unsafe links are dead.
 */
export function MarkdownBlocks({ blocks }: { blocks: readonly MarkdownToken[] }) {
  return (
    <div className={classes.markdown}>
      {blocks.map((token, index) => token.type !== 'space' && <SettledBlock key={index} token={token} />)}
    </div>
  );
}

const SettledBlock = memo(Block, (a, b) => a.token.type === b.token.type && a.token.raw === b.token.raw);
