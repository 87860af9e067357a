import { Tooltip } from '@mantine/core';
import { createContext, use } from 'react';
import { textMarks } from './text-marks.ts';
import classes from './Markdown.module.css';

/** Words to mark wherever they occur in a text, and the reason. */
export const TextMarks = createContext<{ words: readonly string[]; why: string } | undefined>(undefined);

/** Inline text with the marked words underlined; hover and focus show the reason. */
export function MarkedText({ text }: { text: string }) {
  const marks = use(TextMarks);
  if (!marks || marks.words.length === 0) return text;
  return textMarks(text, marks.words).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      <Tooltip key={index} label={marks.why} events={{ hover: true, focus: true, touch: true }}>
        <mark className={classes.doubted} tabIndex={0} aria-description={marks.why}>
          {piece}
        </mark>
      </Tooltip>
    ),
  );
}
