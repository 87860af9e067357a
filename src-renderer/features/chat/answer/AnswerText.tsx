import { useMemo } from 'react';
import { MarkdownBlocks } from '../../../ui/markdown/Markdown.tsx';
import type { Split } from '../../../ui/markdown/split.ts';
import { lex } from '../../../ui/markdown/tokens.ts';
import classes from './Answer.module.css';

/** An answer's text: while it is written from the blocks that are split already, later from the whole text. */
export function AnswerText({ text, live }: { text: string; live: Split | undefined }) {
  const whole = useMemo(() => (live ? [] : lex(text).blocks), [text, live]);
  return (
    <div className={live ? classes.writing : undefined}>
      <MarkdownBlocks blocks={live ? [...live.finished, ...live.open] : whole} />
    </div>
  );
}
