import { decodedUri } from '../../../platform/decoded-uri.ts';
import { broken } from '../errors.ts';
import { resolve, wordsOf } from './navigation.ts';
import { decodePage } from '../html/encoding.ts';
import type { DecodedText } from '../decode.ts';
import type { SourceFile } from '../format.ts';
import { attribute, descendants, joinParts, parseXml, textOf, type XmlElement } from '../xml.ts';
import { ZipArchive } from '../zip.ts';

/** A book's files by the paths that its documents state, which need not be spelled as the archive's. */
export class BookArchive {
  readonly #zip: ZipArchive;
  readonly #file: string;
  readonly #entries: ReadonlyMap<string, string>;

  private constructor(zip: ZipArchive, file: string) {
    this.#zip = zip;
    this.#file = file;
    this.#entries = new Map(zip.names.map((name) => [keyOf(name), name]));
  }

  static async open(file: SourceFile): Promise<BookArchive> {
    return new BookArchive(await ZipArchive.open(file), file.name);
  }

  /** The entry for a path, whatever its case, percent-encoding or Unicode composition. */
  find(path: string): string | undefined {
    return this.#zip.has(path) ? path : this.#entries.get(keyOf(path));
  }

  /** The entry nearest to the root whose path ends so. */
  findEnd(end: string): string | undefined {
    const found = this.#zip.names.filter((name) => `/${keyOf(name)}`.endsWith(end));
    return found.sort((a, b) => a.length - b.length)[0];
  }

  /** The text of a file; each may be in another encoding. */
  async text(path: string): Promise<string | undefined> {
    return (await this.decoded(path))?.text;
  }

  async decoded(path: string): Promise<DecodedText | undefined> {
    const bytes = await this.bytes(path);
    return bytes && decodePage(bytes, this.#file);
  }

  async bytes(path: string): Promise<Buffer | undefined> {
    const entry = this.find(path);
    return entry === undefined ? undefined : this.#zip.read(entry);
  }
}

function keyOf(path: string): string {
  return decodedUri(path.replaceAll('\\', '/')).normalize('NFC').toLowerCase();
}

interface Item {
  path: string;
  type: string;
  fallback: string | undefined;
}

/** What a book's package document says (EPUB 3.3, 5). */
export interface Package {
  title: string;
  /** Files in reading order, each once. */
  chapters: string[];
  /** Files in the reading order in formats that are not read, without a replacement that is. */
  unread: string[];
  /** Pictures in the reading order. */
  pictures: string[];
  /** Pages that the reading order leaves out; chapters may lead to them. */
  others: string[];
  /** Files that may contain the table of contents, the best first. */
  navigation: string[];
}

/** The path of the package document, which META-INF/container.xml states; the archive may hold the book in a folder. */
export async function packagePath(book: BookArchive, name: string): Promise<{ path: string; root: string }> {
  const container = book.findEnd('/meta-inf/container.xml');
  const root = (container ?? '').split('/').slice(0, -2).join('/');
  const stated = container === undefined ? undefined : rootFile((await book.text(container)) ?? '');
  const path = book.find(joinParts(root, (stated ?? '').replace(/^\/+/, ''))) ?? book.findEnd('.opf');
  if (path === undefined) throw broken(name, 'it is not an EPUB book');
  return { path, root };
}

function rootFile(container: string): string | undefined {
  const files = descendants(parseXml(container), 'rootfile').filter((file) => attribute(file, 'full-path'));
  const isPackage = (file: XmlElement): boolean =>
    attribute(file, 'media-type') === 'application/oebps-package+xml';
  const file = files.find(isPackage) ?? files[0];
  return file && attribute(file, 'full-path');
}

const PAGE_TYPE = /html|svg|dtbook|oeb1-document/i;
const PAGE_NAME = /\.(?:x?html?|svg)$/i;
const OTHER_TYPE = /^(?:image\/(?!svg)|audio|video|font)/i;

function isPage({ type, path }: Item): boolean {
  return PAGE_TYPE.test(type) || (PAGE_NAME.test(path) && !OTHER_TYPE.test(type));
}

export function readPackage(opf: string, path: string): Package {
  const root = parseXml(opf);
  const items = new Map<string, Item>();
  const navigation: string[] = [];
  for (const item of descendants(root, 'item')) {
    const { path: file } = resolve(path, attribute(item, 'href') ?? '');
    const type = attribute(item, 'media-type') ?? '';
    items.set(attribute(item, 'id') ?? '', { path: file, type, fallback: attribute(item, 'fallback') });
    if (wordsOf(attribute(item, 'properties')).includes('nav')) navigation.unshift(file);
    if (type === 'application/x-dtbncx+xml') navigation.push(file);
  }
  const spine = descendants(root, 'itemref').map((reference) => attribute(reference, 'idref') ?? '');
  const contents = descendants(root, 'spine').map((element) => attribute(element, 'toc') ?? '');
  const ncx = items.get(contents.at(-1) ?? '')?.path;
  if (ncx !== undefined && !navigation.includes(ncx)) navigation.push(ncx);
  return {
    title:
      descendants(root, 'title')
        .map((title) => textOf(title).trim())
        .find(Boolean) ?? '',
    navigation,
    ...readSpine(items, spine, navigation),
  };
}

type Spine = Omit<Package, 'title' | 'navigation'>;

/** Books may list every section of a file, each with a fragment: a file is read once. */
function readSpine(
  items: ReadonlyMap<string, Item>,
  spine: readonly string[],
  navigation: readonly string[],
): Spine {
  const chapters = new Set<string>();
  const unread = new Set<string>();
  const pictures = new Set<string>();
  const replacements = new Set<string>();
  for (const id of spine.length > 0 ? spine : items.keys()) {
    const first = items.get(id);
    const readable = first && replacementFor(first, items);
    if (readable) chapters.add(readable.path);
    else if (first && spine.length > 0) (first.type.startsWith('image/') ? pictures : unread).add(first.path);
    if (readable && readable !== first) replacements.add(first.path);
  }
  const others = [...items.values()]
    .filter(
      (item) =>
        isPage(item) &&
        !chapters.has(item.path) &&
        !replacements.has(item.path) &&
        !navigation.includes(item.path),
    )
    .map((item) => item.path);
  return { chapters: [...chapters], unread: [...unread], pictures: [...pictures], others };
}

/** The item, or the first in its chain of fallbacks (EPUB 3.3, 3.5.1) that is a page. */
function replacementFor(first: Item, items: ReadonlyMap<string, Item>): Item | undefined {
  const seen = new Set<Item>();
  let item: Item | undefined = first;
  while (item && !seen.has(item)) {
    if (isPage(item)) return item;
    seen.add(item);
    item = items.get(item.fallback ?? '');
  }
  return undefined;
}
