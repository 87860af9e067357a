import { KvasirError } from '../../../src-shared/errors.ts';
import { nameSections } from './epub/headings.ts';
import { readNavigation, resolve, type Section } from './epub/navigation.ts';
import { BookArchive, packagePath, readPackage, type Package } from './epub/package.ts';
import { encrypted, noText } from './errors.ts';
import { joinPages, type DocumentParser } from './format.ts';
import type { DecodedText } from './decode.ts';
import type { PageMaker } from './page/page.ts';
import { hiddenWarnings } from './html.ts';
import { htmlToText, type HtmlText } from './html/text.ts';
import { attribute, descendants, joinParts, parseXml } from './xml.ts';

interface BookFile {
  path: string;
  content: HtmlText;
  sections: readonly Section[];
}

export const epub: DocumentParser = async (file) => {
  const book = await BookArchive.open(file);
  const { path, root } = await packagePath(book, file.name);
  const { title, chapters, unread, pictures, others, navigation } = readPackage(
    (await book.text(path)) ?? '',
    path,
  );
  if (await isProtected(book, root, chapters)) throw encrypted(file.name);
  const sections = Map.groupBy(await sectionsOf(book, navigation), (section) => section.path);
  const {
    files,
    missing,
    warnings: encodings,
    failure,
  } = await readChapters(book, { chapters, others }, sections);
  const pages = nameSections(files).map(({ text, headings }, i) => {
    const label = headings[0]?.title ?? files[i]?.content.title ?? '';
    return { label: label.slice(0, 80) || String(i + 1), text, headings };
  });
  const joined = joinPages(pages);
  if (joined.text === '') throw failure ?? noText(file.name, 'its chapters have only pictures');
  const warnings = [...encodings, ...warningsOf(files, { missing, unread, pictures })];
  return { ...joined, title, warnings };
};

interface Chapters {
  files: BookFile[];
  /** Paths of chapters that are not in the archive, or damaged. */
  missing: string[];
  /** About their encodings. */
  warnings: string[];
  failure: KvasirError | undefined;
}

async function readChapters(
  book: BookArchive,
  { chapters, others }: Pick<Package, 'chapters' | 'others'>,
  sections: ReadonlyMap<string, readonly Section[]>,
): Promise<Chapters> {
  const result: Chapters = { files: [], missing: [], warnings: [], failure: undefined };
  for await (const { path, source } of chapterSources(book, chapters, others)) {
    if (source === undefined || source instanceof KvasirError) {
      if (source) result.failure = source;
      result.missing.push(path);
      continue;
    }
    result.warnings.push(...source.warnings.map((warning) => `${path}: ${warning}`));
    const own = sections.get(book.find(path) ?? path) ?? [];
    const ids = own.map(({ fragment }) => fragment).filter((id) => id !== '');
    result.files.push({ path, content: htmlToText(source.text, ids, true), sections: own });
  }
  return result;
}

interface ChapterSource {
  path: string;
  /** undefined: it is not in the archive. */
  source: DecodedText | KvasirError | undefined;
}

/** The chapters, and then those of the `others` to which any of them leads: notes, in books of EPUB 2. */
async function* chapterSources(
  book: BookArchive,
  chapters: readonly string[],
  others: readonly string[],
): AsyncGenerator<ChapterSource> {
  const waiting = new Set(others);
  const linked: string[] = [];
  for (const paths of [chapters, linked]) {
    for (const path of paths) {
      const source = await book.decoded(path).catch(failureOfChapter);
      yield { path, source };
      if (source === undefined || source instanceof KvasirError || waiting.size === 0) continue;
      for (const target of linksOf(source.text, path)) if (waiting.delete(target)) linked.push(target);
    }
  }
}

/** Its parts are the chapters that could be read. */
export const epubPage: PageMaker = async (file, part) => {
  const book = await BookArchive.open(file);
  const { path: packageFile, root } = await packagePath(book, file.name);
  const { chapters, others } = readPackage((await book.text(packageFile)) ?? '', packageFile);
  if (await isProtected(book, root, chapters)) throw encrypted(file.name);
  let left = part;
  for await (const { path, source } of chapterSources(book, chapters, others)) {
    if (source === undefined || source instanceof KvasirError || left-- > 0) continue;
    const picture = (address: string): Promise<Buffer | undefined> => book.bytes(resolve(path, address).path);
    return { html: source.text, xhtml: true, picture };
  }
  throw noText(file.name, 'it has no such chapter');
};

/** One damaged chapter does not cost the book; a limit or a password does. */
function failureOfChapter(error: unknown): KvasirError {
  if (!(error instanceof KvasirError) || /^DOCUMENT_(?:TOO_LARGE|ENCRYPTED)$/.test(error.code)) throw error;
  return error;
}

function* linksOf(html: string, path: string): Generator<string> {
  for (const [, href = ''] of html.matchAll(/\shref\s*=\s*["']([^"'#:]+)/g)) yield resolve(path, href).path;
}

function warningsOf(
  files: readonly BookFile[],
  { missing, unread, pictures }: { missing: string[]; unread: string[]; pictures: string[] },
): string[] {
  const empty = files
    .filter(({ content }) => content.text === '' && content.hasPictures)
    .map(({ path }) => path);
  // Most books begin with a picture of their cover.
  const seen = [...empty, ...pictures].filter((path) => path !== files[0]?.path && !/cover/i.test(path));
  const hidden = files.reduce((sum, { content }) => sum + content.hiddenWords, 0);
  return [
    ...listed('Chapters that are missing or damaged', missing),
    ...listed('Chapters in a format that is not read', unread),
    ...listed('Chapters with only pictures', seen),
    ...hiddenWarnings(hidden),
  ];
}

function listed(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const names = paths.slice(0, 5).map((path) => path.split('/').at(-1) ?? path);
  const more = paths.length > names.length ? ` and ${paths.length - names.length} more` : '';
  return [`${what}: ${names.join(', ')}${more}.`];
}

/** The sections in the first navigation document that has any; a damaged one is skipped. */
async function sectionsOf(book: BookArchive, navigation: readonly string[]): Promise<Section[]> {
  for (const path of navigation) {
    const xml = await book.text(path).catch(() => undefined);
    const sections = readNavigation(xml ?? '', book.find(path) ?? path);
    if (sections.length > 0)
      return sections.map((section) => ({ ...section, path: book.find(section.path) ?? section.path }));
  }
  return [];
}

/** Whether chapters are encrypted; fonts that are merely obfuscated do not count. */
async function isProtected(book: BookArchive, root: string, chapters: readonly string[]): Promise<boolean> {
  const encryption = await book.text(joinParts(root, 'META-INF/encryption.xml'));
  if (encryption === undefined) return false;
  const references = descendants(parseXml(encryption), 'CipherReference');
  const targets = new Set(references.map((each) => book.find(joinParts(root, attribute(each, 'URI') ?? ''))));
  return chapters.some((path) => targets.has(book.find(path) ?? path));
}
