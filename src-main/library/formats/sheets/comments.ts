import type { OfficePackage, Relationship } from '../office/package.ts';
import { attribute, descendants, element, elements, textOf, type XmlElement } from '../xml.ts';
import type { Sheet } from './sheet.ts';
import { rangeOf } from './sheet-xml.ts';

/** Writers of threaded comments, by their id. */
export function readPersons(root: XmlElement | undefined): Map<string, string> {
  return new Map(
    elements(root, 'person').map((person) => [
      attribute(person, 'id') ?? '',
      attribute(person, 'displayName') ?? '',
    ]),
  );
}

/** Notes (ECMA-376 part 1, 18.7) and threaded comments ([MS-XLSX] 2.6.205), for which files keep a note that only tells of them. */
export async function readComments(
  book: OfficePackage,
  links: ReadonlyMap<string, Relationship>,
  sheet: Sheet,
  persons: ReadonlyMap<string, string>,
): Promise<void> {
  const threads = elements(await book.related(links, 'threadedComment'), 'threadedComment');
  const threaded = new Set(threads.map((thread) => attribute(thread, 'ref')));
  for (const thread of threads) {
    const by = persons.get(attribute(thread, 'personId') ?? '') ?? '';
    add(sheet, attribute(thread, 'ref'), by, textOf(element(thread, 'text')));
  }
  const root = await book.related(links, 'comments');
  const authors = elements(element(root, 'authors'), 'author').map(textOf);
  for (const comment of descendants(root, 'comment')) {
    if (threaded.has(attribute(comment, 'ref'))) continue;
    const runs = descendants(element(comment, 'text'), 't').map(textOf);
    const by = authors[Number(attribute(comment, 'authorId') ?? -1)] ?? '';
    add(sheet, attribute(comment, 'ref'), by, runs.join(''));
  }
}

/** Programs begin a note with its author's name; one that does not gets it. */
function add(sheet: Sheet, ref: string | undefined, author: string, text: string): void {
  const cell = rangeOf(ref ?? '');
  const words = text.trim();
  if (!cell || words === '') return;
  const isNamed = author === '' || author.startsWith('tc=') || words.startsWith(`${author}:`);
  sheet.addNote(cell.top, cell.left, isNamed ? words : `${author}: ${words}`);
}
