import { MAX_DEPTH, type Section } from './navigation.ts';
import type { ParsedHeading } from '../format.ts';
import type { HtmlText } from '../html/text.ts';

/** A section in the text of its file. */
interface Place extends Section {
  /** UTF-16 range in the text. */
  start: number;
  end: number;
  /** Whether the next section also begins there, nested in this one. */
  holdsNext: boolean;
  first: ParsedHeading | undefined;
  own: ParsedHeading | undefined;
}

interface NamedText {
  text: string;
  headings: ParsedHeading[];
}

/** A heading to insert: its line replaces a range of the text. */
interface NewHeading extends ParsedHeading {
  end: number;
  line: string;
}

const MAX_LEVEL = 6;
/** UTF-16 units of a text that are compared with a title: more than any title has. */
const COMPARED_UNITS = 600;

/** The texts of a book's files, with headings added where only the navigation names a section. */
export function nameSections(
  files: readonly { content: HtmlText; sections: readonly Section[] }[],
): NamedText[] {
  const places = files.map(({ content, sections }) => placesOf(content, sections));
  const levels = levelsOf(places.flat());
  return files.map(({ content }, i) =>
    withHeadings(content, newHeadings(content.text, places[i] ?? [], levels)),
  );
}

/** In text order, without those that are not found in the text. */
function placesOf({ text, headings, targets }: HtmlText, sections: readonly Section[]): Place[] {
  const found = sections
    .map((section) => ({ ...section, start: section.fragment === '' ? 0 : targets.get(section.fragment) }))
    .filter((section): section is Section & { start: number } => section.start !== undefined)
    .sort((a, b) => a.start - b.start);
  const starts = [...new Set(found.map(({ start }) => start)), text.length];
  const ends = new Map(starts.map((start, i) => [start, starts[i + 1] ?? text.length]));
  const byLetters = new Map(headings.map((heading) => [lettersOf(heading.title), heading]));
  return found.map((section, i) => {
    const { start, depth, title } = section;
    const next = found[i + 1];
    const end = ends.get(start) ?? text.length;
    const first = headings.find((heading) => heading.start >= start && heading.start < end);
    const place = { ...section, end, first, holdsNext: next?.start === start && next.depth > depth };
    return { ...place, own: byLetters.get(lettersOf(title)) ?? headingAt(text, place) };
  });
}

/** A section's first heading, if it comes first, or only after text that states the title together with it. */
function headingAt(
  text: string,
  { start, title, first, holdsNext }: Omit<Place, 'own'>,
): ParsedHeading | undefined {
  if (!first || first.start > start + COMPARED_UNITS) return undefined;
  // Where several sections begin, a heading belongs to the innermost.
  if (first.start === start) return holdsNext ? undefined : first;
  return lettersOf(text.slice(start, first.start) + first.title) === lettersOf(title) ? first : undefined;
}

/**
 * The heading level for each depth of the navigation, so that new headings match those that the text has at that depth: the level of most
 * of these, else one below the enclosing level.
 */
function levelsOf(places: readonly Place[]): number[] {
  const levels = [0];
  for (let depth = 1; depth <= MAX_DEPTH; depth++) {
    const own = places.flatMap((place) => (place.depth === depth && place.own ? [place.own.level] : []));
    const counted = [...Map.groupBy(own, (level) => level)].sort((a, b) => b[1].length - a[1].length);
    levels.push(counted[0]?.[0] ?? Math.min((levels.at(-1) ?? 0) + 1, MAX_LEVEL));
  }
  return levels;
}

/** Headings for sections that have words but no heading. */
function newHeadings(text: string, places: readonly Place[], levels: readonly number[]): NewHeading[] {
  const headings: NewHeading[] = [];
  let end = 0;
  for (const place of places) {
    const start = Math.max(place.start, end);
    if (place.own || text.slice(start, place.end).trim() === '') continue;
    end = behindTitle(text, start, place);
    const level = levels[place.depth] ?? MAX_LEVEL;
    const line = `${'#'.repeat(level)} ${place.title}\n\n`;
    headings.push({ start, end, level, title: place.title, line });
  }
  return headings;
}

/** The end of the first paragraphs of a section that together state its title; `start` where none do. */
function behindTitle(text: string, start: number, { end, title, first }: Place): number {
  const head = text.slice(start, Math.min(start + COMPARED_UNITS, first?.start ?? end));
  let rest = lettersOf(title);
  let at = start;
  for (const paragraph of head.split(/(?<=\n\n)/)) {
    const letters = lettersOf(paragraph);
    if (!rest.startsWith(letters)) return start;
    rest = rest.slice(letters.length);
    at += paragraph.length;
    if (rest === '') return at;
  }
  return start;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

function withHeadings(content: HtmlText, added: readonly NewHeading[]): NamedText {
  const own = content.headings.map((heading) => ({ ...heading, end: heading.start, line: '' }));
  const headings: ParsedHeading[] = [];
  let text = '';
  let from = 0;
  for (const { start, end, level, title, line } of [...added, ...own].sort((a, b) => a.start - b.start)) {
    text += content.text.slice(from, start);
    headings.push({ start: text.length, level, title });
    text += line;
    from = end;
  }
  return { text: text + content.text.slice(from), headings };
}
