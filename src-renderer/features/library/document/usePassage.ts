import type { Virtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useState, type RefObject } from 'react';
import type { Range } from '../../../../src-shared/contract/common.ts';
import { useClient } from '../../../client/context.tsx';
import { findRange } from './text-parts.ts';

/** Heights are estimates until drawn, so the way to a passage is corrected for some frames. */
const SETTLE_FRAMES = 12;
/** The text of the place may have to be fetched first. */
const PATIENCE_FRAMES = 300;

/** Brings the passage of the address into view when the text opens, and back to it on demand. */
export function usePassage({
  id,
  passage,
  count,
  chunks,
  plain,
  virtualizer,
  scroller,
}: {
  id: string;
  passage: Range | undefined;
  /** Segments in all, and how many of them are chunks (all or none); without chunks each is `plain` long. */
  count: number;
  chunks: number;
  plain: number;
  virtualizer: Virtualizer<HTMLDivElement, Element>;
  scroller: RefObject<HTMLDivElement | null>;
}): { visible: boolean; go: () => void } {
  const client = useClient();
  const [index, setIndex] = useState<number>();
  const start = passage?.start;
  const ready = count > 0;
  useEffect(() => {
    if (start === undefined || !ready) return;
    const at = async (offset: number): Promise<Range | undefined> =>
      (await client.call('documents.chunks', { id, offset, limit: 1 })).items[0];
    let current = true;
    // A failure here shows up as the failure of the rows themselves.
    const finding = chunks === 0 ? Promise.resolve(Math.floor(start / plain)) : findRange(chunks, at, start);
    finding.then(
      (found) => current && setIndex(found),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [client, id, start, ready, chunks, plain]);

  const go = useCallback(() => {
    if (index === undefined) return () => undefined;
    virtualizer.scrollToIndex(index, { align: 'start' });
    return centreMark(scroller);
  }, [index, virtualizer, scroller]);
  useEffect(() => go(), [go]);
  const range = virtualizer.range;
  const visible =
    index === undefined || (range !== null && index >= range.startIndex && index <= range.endIndex);
  return { visible, go };
}

/** Once the marked text is drawn, brings it to the middle and keeps it there while heights around it settle. */
function centreMark(scroller: RefObject<HTMLDivElement | null>): () => void {
  let settled = 0;
  let frames = 0;
  let handle = requestAnimationFrame(function step() {
    const mark = scroller.current?.querySelector('mark');
    if (mark) {
      const box = mark.getBoundingClientRect();
      const room = scroller.current?.clientHeight ?? 0;
      // A long passage shows its beginning.
      mark.scrollIntoView({ block: box.height > room * 0.7 ? 'start' : 'center' });
      settled++;
    }
    frames++;
    if (settled < SETTLE_FRAMES && frames < PATIENCE_FRAMES) handle = requestAnimationFrame(step);
  });
  return () => cancelAnimationFrame(handle);
}
