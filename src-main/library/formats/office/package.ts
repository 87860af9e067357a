import { decodedUri } from '../../../platform/decoded-uri.ts';
import { broken } from '../errors.ts';
import type { SourceFile } from '../format.ts';
import { attribute, descendants, joinParts, parseXml, type XmlElement } from '../xml.ts';
import { ZipArchive } from '../zip.ts';

/** A link from one part of a package to another. */
export interface Relationship {
  /** The last step of its type's address, e.g. `footnotes`; transitional and strict documents share it. */
  type: string;
  /** Path of the part; an address for external ones. */
  target: string;
  external: boolean;
}

/** The files of a package. */
export interface PackageFiles {
  names: readonly string[];
  read: (name: string) => Promise<Buffer | undefined>;
}

/** A document in the Open Packaging Conventions (ECMA-376 part 2): parts, and relationships between them. */
export class OfficePackage {
  readonly #files: PackageFiles;
  /** Part names are compared without regard to case (ECMA-376 part 2, 6.2.2.3). */
  readonly #names: ReadonlyMap<string, string>;
  readonly #file: string;

  /** `file`: its name. */
  constructor(files: PackageFiles, file: string) {
    this.#files = files;
    this.#file = file;
    this.#names = new Map(files.names.map((name) => [name.toLowerCase(), name]));
  }

  /** As `ZipArchive.open`. */
  static async open(file: SourceFile): Promise<OfficePackage> {
    return new OfficePackage(await ZipArchive.open(file), file.name);
  }

  /** Path of the part that the package is about, whatever it is called. DOCUMENT_UNREADABLE. */
  async mainPart(): Promise<string> {
    const links = [...(await this.relationships('')).values()];
    const main = links.find(({ type, target }) => type === 'officeDocument' && this.has(target))?.target;
    const usual = ['word/document.xml', 'ppt/presentation.xml', 'xl/workbook.xml'].find((path) =>
      this.has(path),
    );
    const path = main ?? usual;
    if (path === undefined) throw broken(this.#file, 'it is not an Office document');
    return path;
  }

  has(path: string): boolean {
    return this.#names.has(path.toLowerCase());
  }

  read(path: string): Promise<Buffer | undefined> {
    return this.#files.read(this.#names.get(path.toLowerCase()) ?? path);
  }

  /** A part's root element, without the elements of the ignored names. */
  async xml(path: string, ignored?: ReadonlySet<string>): Promise<XmlElement | undefined> {
    const bytes = await this.read(path);
    if (bytes === undefined) return undefined;
    return parseXml(decodeXml(bytes), ignored).children.find((child) => typeof child !== 'string');
  }

  /** A part's relationships by id; the package's own for ''. */
  async relationships(path: string): Promise<Map<string, Relationship>> {
    const folder = path.replace(/[^/]*$/, '');
    const root = await this.xml(`${folder}_rels/${path.slice(folder.length)}.rels`);
    return new Map(
      descendants(root, 'Relationship').map((link) => {
        const target = (attribute(link, 'Target') ?? '').replaceAll('\\', '/');
        const external = attribute(link, 'TargetMode') === 'External';
        const type = (attribute(link, 'Type') ?? '').replace(/^.*\//, '');
        return [
          attribute(link, 'Id') ?? '',
          {
            type,
            external,
            target: external ? target : joinParts(folder, decodedUri(target.replace(/#.*$/, ''))),
          },
        ];
      }),
    );
  }

  /** The root of the part with this type of relationship. */
  async related(links: ReadonlyMap<string, Relationship>, type: string): Promise<XmlElement | undefined> {
    const link = [...links.values()].find((each) => each.type === type && !each.external);
    return link && this.xml(link.target);
  }
}

/** XML is in UTF-8 or, by its byte-order mark, in UTF-16. */
export function decodeXml(bytes: Buffer): string {
  const label =
    bytes[0] === 0xff && bytes[1] === 0xfe
      ? 'utf-16le'
      : bytes[0] === 0xfe && bytes[1] === 0xff
        ? 'utf-16be'
        : 'utf-8';
  return new TextDecoder(label).decode(bytes);
}
