import type { Range } from '../../../src-shared/contract/common.ts';
import { highlightParts } from './answer/highlight-parts.ts';

/** A text with some of its ranges marked. */
export function Marked({ text, ranges }: { text: string; ranges: readonly Range[] }) {
  return highlightParts(text, ranges).map((part, index) =>
    part.marked ? <mark key={index}>{part.text}</mark> : <span key={index}>{part.text}</span>,
  );
}
