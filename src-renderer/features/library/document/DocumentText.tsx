import { Button, Loader } from '@mantine/core';
import { IconCornerDownRight, IconFileText } from '@tabler/icons-react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import type { Range } from '../../../../src-shared/contract/common.ts';
import type { ChunkInfo, DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { usePagedRows } from '../../../ui/usePagedRows.ts';
import { Segment, type SegmentRange } from './Segment.tsx';
import { useDocumentText } from './useDocumentText.ts';
import { usePassage } from './usePassage.ts';
import classes from './Document.module.css';

/** Segment length for a text without chunks. */
const PLAIN_SEGMENT = 4000;
const LINE_CHARS = 85;
const LINE_PX = 25;

/** The text, chunk by chunk, virtualised: only visible segments are in the DOM, however long the document is. */
export function DocumentText({ document, passage }: { document: DocumentInfo; passage: Range | undefined }) {
  const { t } = useTranslation('library');
  const { id } = document;
  const segments = useSegments(id);
  const { text, count, segmentAt, heightOf, failure } = segments;
  const [selected, setSelected] = useState<number>();
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(segmentAt(index)),
    overscan: 2,
  });
  useShown(virtualizer.range, segments);
  const { chunks } = segments;
  const place = usePassage({ id, passage, count, chunks, plain: PLAIN_SEGMENT, virtualizer, scroller });
  if (failure) return <FailureAlert failure={failure} onRetry={segments.retry} />;
  if (!segments.known) return <Loader m="auto" aria-label={t('phase.reading')} />;
  if (text.length === 0) return <NoText document={document} />;
  return (
    <div className={classes.textFrame}>
      {passage && !place.visible && <ToPassage onClick={place.go} />}
      <div
        ref={scroller}
        className={classes.text}
        role="region"
        tabIndex={0}
        aria-label={t('document.textLabel', { title: document.title })}
      >
        <div className={classes.sheet} style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map(({ index, start }) => {
            const segment = segmentAt(index);
            return (
              <div
                key={index}
                data-index={index}
                ref={virtualizer.measureElement}
                className={classes.segment}
                style={{ top: start }}
              >
                <Segment
                  range={segment}
                  text={segment && text.slice(segment.start, segment.end)}
                  line={segment && text.lineAt(segment.start)}
                  height={heightOf(segment)}
                  pages={text.pages}
                  passage={passage}
                  selected={selected === index}
                  onSelect={() => setSelected(selected === index ? undefined : index)}
                />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function ToPassage({ onClick }: { onClick: () => void }) {
  const { t } = useTranslation('library');
  return (
    <Button
      size="compact-sm"
      className={classes.toPassage}
      leftSection={<IconCornerDownRight size={15} aria-hidden />}
      onClick={onClick}
    >
      {t('document.toPassage')}
    </Button>
  );
}

function NoText({ document: { phase } }: { document: DocumentInfo }) {
  const { t } = useTranslation('library');
  return (
    <EmptyState
      icon={<IconFileText size={30} />}
      title={t('document.none')}
      text={phase === 'failed' ? undefined : t('document.noneText', { phase: t(`phase.${phase}`) })}
    />
  );
}

type Segments = ReturnType<typeof useSegments>;

/** A document's text in segments: its chunks, or pieces of equal length while it has none. */
function useSegments(id: string) {
  const text = useDocumentText(id);
  const rows = usePagedRows('documents.chunks', { id });
  const length = text.length ?? 0;
  const chunks = rows.total ?? 0;
  // Layout waits for both, because height estimates depend on them.
  const known = text.length !== undefined && rows.total !== undefined;
  const count = known ? chunks || Math.ceil(length / PLAIN_SEGMENT) : 0;
  return {
    text,
    known,
    /** How many of the segments are chunks: all or none. */
    chunks,
    count,
    segmentAt: (index: number): SegmentRange | undefined =>
      chunks > 0 ? chunkRange(rows.rowAt(index)) : plainRange(index, length),
    /** Estimated height, in pixels. */
    heightOf: (range: SegmentRange | undefined): number =>
      estimateHeight(range ? range.end - range.start : length / Math.max(1, count)),
    showRows: rows.show,
    failure: text.failure ?? rows.failure,
    retry: text.failure ? text.retry : rows.retry,
  };
}

function chunkRange(chunk: ChunkInfo | undefined): SegmentRange | undefined {
  return chunk && { start: chunk.start, end: chunk.end, chunk };
}

function plainRange(index: number, length: number): SegmentRange {
  return {
    start: index * PLAIN_SEGMENT,
    end: Math.min(length, (index + 1) * PLAIN_SEGMENT),
    chunk: undefined,
  };
}

/** Before measurement. */
function estimateHeight(chars: number): number {
  return Math.max(84, Math.ceil(chars / LINE_CHARS) * LINE_PX + 24);
}

/** Reports the visible range to the rows and the text. */
function useShown(
  range: { startIndex: number; endIndex: number } | null,
  { segmentAt, showRows, text }: Segments,
): void {
  const first = range?.startIndex ?? 0;
  const last = range?.endIndex ?? 0;
  const from = segmentAt(first)?.start;
  const to = segmentAt(last)?.end;
  const latest = useLatestOf(text.show);
  useEffect(() => showRows(first, last), [showRows, first, last]);
  useEffect(() => {
    if (from !== undefined && to !== undefined) latest.current(from, to);
  }, [latest, from, to]);
}

function useLatestOf<T>(value: T): RefObject<T> {
  const latest = useRef(value);
  useEffect(() => {
    latest.current = value;
  });
  return latest;
}
