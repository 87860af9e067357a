import { broken, encrypted, noText } from './errors.ts';
import { joinPages, type Parse, type ParsedHeading } from './format.ts';
import { htmlTitle } from './html.ts';
import { htmlToText } from './html-text.ts';
import { joinParts, readXml } from './xml.ts';
import { ZipArchive } from './zip.ts';

interface Package {
  title: string;
  /** Chapters in reading order: paths in the archive. */
  chapters: string[];
}

export const epub: Parse = async (file) => {
  const zip = await ZipArchive.open(file);
  const container = await zip.text('META-INF/container.xml');
  const packagePath = container === undefined ? undefined : rootFile(container);
  const opf = packagePath === undefined ? undefined : await zip.text(packagePath);
  if (packagePath === undefined || opf === undefined) throw broken(file.name, 'it is not an EPUB book');
  const { title, chapters } = readPackage(opf, packagePath.split('/').slice(0, -1).join('/'));
  if (await isProtected(zip, chapters)) throw encrypted(file.name);
  const pages: ReturnType<typeof chapter>[] = [];
  let missing = 0;
  for (const path of chapters) {
    const page = await zip.text(path);
    if (page === undefined) missing++;
    else pages.push(chapter(page, pages.length + 1));
  }
  zip.close();
  const joined = joinPages(pages);
  if (joined.text === '') throw noText(file.name, 'its chapters have only pictures');
  return { ...joined, title, warnings: missing > 0 ? [`${missing} chapters are missing in the file.`] : [] };
};

function chapter(page: string, number: number): { label: string; text: string; headings: ParsedHeading[] } {
  const { text, headings } = htmlToText(page);
  const heading = headings[0]?.title ?? htmlTitle(page);
  return { label: heading.slice(0, 80) || String(number), text, headings };
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

function readPackage(opf: string, folder: string): Package {
  const paths = new Map<string, string>();
  const chapters: string[] = [];
  let title = '';
  readXml(opf, {
    open: (name, attributes) => {
      const element = name.replace(/^.*:/, '');
      if (element === 'item')
        paths.set(
          attributes['id'] ?? '',
          joinParts(folder, decodeURI((attributes['href'] ?? '').replace(/#.*$/, ''))),
        );
      const path = element === 'itemref' ? paths.get(attributes['idref'] ?? '') : undefined;
      // Books may list every section of a file, each with a fragment.
      if (path !== undefined && !chapters.includes(path)) chapters.push(path);
    },
    text: (text, inside) => {
      if (inside.at(-1) === 'dc:title') title += text;
    },
  });
  return { title: title.trim(), chapters };
}

/** Whether chapters are encrypted; fonts that are only obfuscated do not matter. */
async function isProtected(zip: ZipArchive, chapters: readonly string[]): Promise<boolean> {
  const encryption = await zip.text('META-INF/encryption.xml');
  if (encryption === undefined) return false;
  const targets = new Set<string>();
  readXml(encryption, {
    open: (name, attributes) => {
      if (name.endsWith('CipherReference')) targets.add(decodeURI(attributes['URI'] ?? ''));
    },
  });
  return chapters.some((path) => targets.has(path));
}
