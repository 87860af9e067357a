import type { Citation } from '../../../../src-shared/contract/chat.ts';

const SEPARATOR = ' › ';

export interface SourceGroup {
  /** Title of the document. */
  name: string;
  places: SourcePlace[];
}

export interface SourcePlace {
  citation: Citation;
  /** Index among the answer's citations, from 0. */
  index: number;
  /** Headings down to the passage, without the document's title; '' if there are none. */
  section: string;
}

/** Citations grouped by document, in order of first citation. */
export function groupSources(citations: readonly Citation[]): SourceGroup[] {
  const groups = new Map<string, SourceGroup>();
  for (const [index, citation] of citations.entries()) {
    const [name = '', ...headings] = citation.title.split(SEPARATOR);
    const key = citation.documentId ?? citation.path;
    const group = groups.get(key) ?? { name, places: [] };
    groups.set(key, group);
    group.places.push({ citation, index, section: headings.join(SEPARATOR) });
  }
  return [...groups.values()];
}
