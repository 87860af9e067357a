import { Fragment, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Range } from '../../../../src-shared/contract/common.ts';
import type { ChunkInfo, DocumentText } from '../../../../src-shared/contract/libraries.ts';
import { ChunkMargin } from './ChunkMargin.tsx';
import { textParts, type TextPart } from './text-parts.ts';
import classes from './Document.module.css';

export interface SegmentRange extends Range {
  /** Absent while the text has not been split. */
  chunk: ChunkInfo | undefined;
}

/** The number is drawn by the style sheet: it is neither read out, nor copied with the text. */
function numbered({ text, line }: TextPart): ReactNode {
  if (line === undefined) return text;
  const lines = text.split('\n');
  // A line that begins at the end of this part gets its number from the next one.
  const isWhole = (index: number): boolean => index < lines.length - 1 || lines[index] !== '';
  return lines.map((words, index) => (
    <Fragment key={index}>
      {index > 0 && '\n'}
      {(index > 0 || line.begins) && isWhole(index) && (
        <span className={classes.lineNumber} data-line={line.number + index} />
      )}
      {words}
    </Fragment>
  ));
}

/** One chunk's text with its details in the margin. */
export function Segment({
  range,
  text,
  line,
  height,
  pages,
  passage,
  selected,
  onSelect,
}: {
  range: SegmentRange | undefined;
  /** undefined while loading. */
  text: string | undefined;
  /** Number of the line that it begins with, if lines have numbers. */
  line: number | undefined;
  /** Estimated height, in pixels. */
  height: number;
  pages: DocumentText['pages'];
  passage: Range | undefined;
  selected: boolean;
  onSelect: () => void;
}) {
  const { t } = useTranslation('library');
  const chunk = range?.chunk;
  return (
    <div className={classes.row} data-selected={selected || undefined} data-tier={chunk?.cache}>
      <div className={classes.margin}>
        {chunk && <ChunkMargin chunk={chunk} selected={selected} onSelect={onSelect} />}
      </div>
      <div className={classes.prose} data-numbered={line === undefined ? undefined : true}>
        {range === undefined || text === undefined ? (
          <div style={{ height }} aria-hidden />
        ) : (
          textParts(text, range.start, pages, passage, line).map((part, index) => (
            <span key={index}>
              {part.page !== undefined && (
                <span className={classes.pageBreak}>{t('document.page', { label: part.page })}</span>
              )}
              {part.marked ? <mark>{numbered(part)}</mark> : numbered(part)}
            </span>
          ))
        )}
      </div>
    </div>
  );
}
