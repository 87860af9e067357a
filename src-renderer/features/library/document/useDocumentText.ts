import { useState } from 'react';
import type { DocumentText } from '../../../../src-shared/contract/libraries.ts';
import type { KvasirError } from '../../../../src-shared/errors.ts';
import { useCall } from '../../../client/context.tsx';
import { pagesAround } from '../../../ui/paging.ts';

/** Maximum length the core returns per request, in UTF-16 units. */
const WINDOW = 200_000;

interface DocumentTextWindows {
  /** undefined until the first response. */
  length: number | undefined;
  pages: DocumentText['pages'];
  /** undefined while that part of the text is loading. */
  slice: (start: number, end: number) => string | undefined;
  /** Number of the line that begins at an offset; undefined where none begins, or the file has no lines that people count. */
  lineAt: (offset: number) => number | undefined;
  /** Sets the visible range. */
  show: (start: number, end: number) => void;
  failure: KvasirError | null;
  retry: () => void;
}

/** A document's text of any length, as two neighbouring windows around the visible range. */
export function useDocumentText(id: string): DocumentTextWindows {
  const [{ even, odd }, setWindows] = useState({ even: 0, odd: 1 });
  const evenText = useCall('documents.text', { id, offset: even * WINDOW, limit: WINDOW });
  const length = evenText.data?.length;
  const needsOdd = length !== undefined && length > odd * WINDOW;
  const oddText = useCall(
    'documents.text',
    { id, offset: odd * WINDOW, limit: WINDOW },
    { enabled: needsOdd },
  );
  const windows = [evenText.data, oddText.data].filter((data) => data !== undefined);
  return {
    length: length ?? oddText.data?.length,
    pages: windows[0]?.pages ?? [],
    slice: (start, end) => sliceOf(windows, start, end),
    lineAt: (offset) => lineAt(windows, offset),
    show: (start, end) => {
      const next = pagesAround(start, end, WINDOW);
      if (next.even !== even || next.odd !== odd) setWindows(next);
    },
    failure: evenText.error ?? oddText.error,
    retry: () => {
      void evenText.refetch();
      if (needsOdd) void oddText.refetch();
    },
  };
}

/** Number of the line that begins at an offset. */
export function lineAt(
  windows: readonly Pick<DocumentText, 'text' | 'offset' | 'line'>[],
  offset: number,
): number | undefined {
  const window = windows.find((one) => one.offset <= offset && offset < one.offset + one.text.length);
  if (window?.line === undefined || window.line === null) return undefined;
  const before = window.text.slice(0, offset - window.offset);
  const begins = before === '' ? offset === 0 : before.endsWith('\n');
  return begins ? window.line + before.split('\n').length - 1 : undefined;
}

/** Joins the parts of a range from both windows. */
export function sliceOf(
  windows: readonly Pick<DocumentText, 'text' | 'offset'>[],
  start: number,
  end: number,
): string | undefined {
  let text = '';
  for (const window of windows.toSorted((a, b) => a.offset - b.offset)) {
    const from = start + text.length;
    if (window.offset <= from && from < window.offset + window.text.length) {
      text += window.text.slice(from - window.offset, end - window.offset);
    }
  }
  return text.length === end - start ? text : undefined;
}
