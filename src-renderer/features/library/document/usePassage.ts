import type { Virtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useState, type RefObject } from 'react';
import type { Range } from '../../../../src-shared/contract/common.ts';
import { useClient } from '../../../client/context.tsx';
import { findRange } from './text-parts.ts';

/** A passage that has not moved for this many frames has arrived. */
const SETTLE_FRAMES = 12;
/** The text at that position may have to be fetched first. */
const PATIENCE_FRAMES = 600;
const HANDS = ['wheel', 'pointerdown', 'touchstart', 'keydown'] as const;

/** Scrolls to the passage in the address when the text opens, and back to it on request. */
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
  /** Number of segments, and how many of them are chunks (all or none); without chunks each segment is `plain` long. */
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
    // The rows report the same failure.
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
    if (index === undefined || !scroller.current) return () => undefined;
    return approach(index, virtualizer, scroller.current);
  }, [index, virtualizer, scroller]);
  useEffect(() => go(), [go]);
  const range = virtualizer.range;
  const visible =
    index === undefined || (range !== null && index >= range.startIndex && index <= range.endIndex);
  return { visible, go };
}

/**
 * Scrolls to a segment and centres its marked text, repeatedly until it stays there: heights are estimates until a
 * segment is rendered, and corrections above it shift it. User scrolling stops this.
 */
function approach(
  index: number,
  virtualizer: Virtualizer<HTMLDivElement, Element>,
  scroller: HTMLDivElement,
): () => void {
  let still = 0;
  let frames = 0;
  let before = NaN;
  let handle = requestAnimationFrame(function step() {
    const mark = scroller.querySelector('mark');
    if (mark) {
      const { height } = mark.getBoundingClientRect();
      // A long passage shows its start.
      mark.scrollIntoView({ block: height > scroller.clientHeight * 0.7 ? 'start' : 'center' });
    } else {
      virtualizer.scrollToIndex(index, { align: 'start' });
    }
    const place = mark ? scroller.scrollTop : NaN;
    still = place === before ? still + 1 : 0;
    before = place;
    frames++;
    if (still < SETTLE_FRAMES && frames < PATIENCE_FRAMES) handle = requestAnimationFrame(step);
  });
  const end = (): void => {
    cancelAnimationFrame(handle);
    for (const hand of HANDS) scroller.removeEventListener(hand, end);
  };
  for (const hand of HANDS) scroller.addEventListener(hand, end, { passive: true });
  return end;
}
