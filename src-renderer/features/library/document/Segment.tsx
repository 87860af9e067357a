import { useTranslation } from 'react-i18next';
import type { Range } from '../../../../src-shared/contract/common.ts';
import type { ChunkInfo, DocumentText } from '../../../../src-shared/contract/libraries.ts';
import { ChunkMargin } from './ChunkMargin.tsx';
import { textParts } from './text-parts.ts';
import classes from './Document.module.css';

export interface SegmentRange extends Range {
  /** Absent while the text has not been split. */
  chunk: ChunkInfo | undefined;
}

/** One chunk's text with its details in the margin. */
export function Segment({
  range,
  text,
  height,
  pages,
  passage,
  selected,
  onSelect,
}: {
  range: SegmentRange | undefined;
  /** undefined while loading. */
  text: string | undefined;
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
    <div className={classes.row} data-selected={selected || undefined} data-cache={chunk?.cache}>
      <div className={classes.margin}>
        {chunk && <ChunkMargin chunk={chunk} selected={selected} onSelect={onSelect} />}
      </div>
      <div className={classes.prose}>
        {range === undefined || text === undefined ? (
          <div style={{ height }} aria-hidden />
        ) : (
          textParts(text, range.start, pages, passage).map((part, index) => (
            <span key={index}>
              {part.page !== undefined && (
                <span className={classes.pageBreak}>{t('document.page', { label: part.page })}</span>
              )}
              {part.marked ? <mark>{part.text}</mark> : part.text}
            </span>
          ))
        )}
      </div>
    </div>
  );
}
