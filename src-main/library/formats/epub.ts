import { nameSections } from './epub-headings.ts';
import { readNavigation, resolve, wordsOf, type Section } from './epub-navigation.ts';
import { broken, encrypted, noText } from './errors.ts';
import { joinPages, type DocumentParser } from './format.ts';
import { htmlTitle } from './html.ts';
import { htmlToText, type HtmlText } from './html-text.ts';
import { localName, readXml } from './xml.ts';
import { ZipArchive } from './zip.ts';

interface Package {
  title: string;
  /** Chapters in reading order: paths in the archive. */
  chapters: string[];
  /** Files that may contain the table of contents, the best first. */
  navigation: string[];
}

interface BookFile {
  /** Its title if it has no heading. */
  title: string;
  content: HtmlText;
  /** Sections that begin in it. */
  sections: readonly Section[];
}

export const epub: DocumentParser = async (file) => {
  const zip = await ZipArchive.open(file);
  const container = await zip.text('META-INF/container.xml');
  const packagePath = container === undefined ? undefined : rootFile(container);
  const opf = packagePath === undefined ? undefined : await zip.text(packagePath);
  if (packagePath === undefined || opf === undefined) throw broken(file.name, 'it is not an EPUB book');
  const { title, chapters, navigation } = readPackage(opf, packagePath);
  if (await isProtected(zip, chapters)) throw encrypted(file.name);
  const sections = Map.groupBy(await sectionsOf(zip, navigation), ({ path }) => path);
  const files: BookFile[] = [];
  let missing = 0;
  for (const path of chapters) {
    const html = await zip.text(path);
    if (html === undefined) missing++;
    else files.push(bookFile(html, sections.get(path) ?? []));
  }
  zip.close();
  const pages = nameSections(files).map(({ text, headings }, i) => {
    const label = headings[0]?.title ?? files[i]?.title ?? '';
    return { label: label.slice(0, 80) || String(i + 1), text, headings };
  });
  const joined = joinPages(pages);
  if (joined.text === '') throw noText(file.name, 'its chapters have only pictures');
  return { ...joined, title, warnings: missing > 0 ? [`${missing} chapters are missing in the file.`] : [] };
};

function bookFile(html: string, sections: readonly Section[]): BookFile {
  const ids = sections.map(({ fragment }) => fragment).filter((id) => id !== '');
  const content = htmlToText(html, ids);
  return { title: content.headings.length > 0 ? '' : htmlTitle(html), content, sections };
}

/** The sections in the first navigation document that has any; a damaged one is skipped. */
async function sectionsOf(zip: ZipArchive, navigation: readonly string[]): Promise<Section[]> {
  for (const path of navigation) {
    const xml = await zip.text(path).catch(() => undefined);
    const sections = readNavigation(xml ?? '', path);
    if (sections.length > 0) return sections;
  }
  return [];
}

function rootFile(container: string): string | undefined {
  let path: string | undefined;
  readXml(container, {
    open: (name, attributes) => {
      if (name.endsWith('rootfile')) path ??= attributes['full-path'];
    },
  });
  return path;
}

function readPackage(opf: string, path: string): Package {
  const paths = new Map<string, string>();
  const chapters: string[] = [];
  const navigation: string[] = [];
  let title = '';
  readXml(opf, {
    open: (name, attributes) => {
      const element = localName(name);
      if (element === 'item') {
        const item = resolve(path, attributes['href'] ?? '').path;
        paths.set(attributes['id'] ?? '', item);
        if (wordsOf(attributes['properties']).includes('nav')) navigation.unshift(item);
        if (attributes['media-type'] === 'application/x-dtbncx+xml') navigation.push(item);
      }
      const chapter = element === 'itemref' ? paths.get(attributes['idref'] ?? '') : undefined;
      // Books may list every section of a file, each with a fragment.
      if (chapter !== undefined && !chapters.includes(chapter)) chapters.push(chapter);
    },
    text: (text, inside) => {
      if (inside.at(-1) === 'dc:title') title += text;
    },
  });
  return { title: title.trim(), chapters, navigation };
}

/** Whether chapters are encrypted; fonts that are merely obfuscated do not count. */
async function isProtected(zip: ZipArchive, chapters: readonly string[]): Promise<boolean> {
  const encryption = await zip.text('META-INF/encryption.xml');
  if (encryption === undefined) return false;
  const targets = new Set<string>();
  readXml(encryption, {
    open: (name, attributes) => {
      if (name.endsWith('CipherReference')) targets.add(resolve('', attributes['URI'] ?? '').path);
    },
  });
  return chapters.some((path) => targets.has(path));
}
