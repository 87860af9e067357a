import { ZipFile } from 'yazl';

const NAMESPACES = [
  ['w', 'wordprocessingml'],
  ['p', 'presentationml'],
  ['a', 'drawingml'],
]
  .map(([prefix = '', kind = '']) => `xmlns:${prefix}="http://schemas.openxmlformats.org/${kind}/2006/main"`)
  .concat(
    ['relationships', 'math'].map(
      (kind) => `xmlns:${kind.slice(0, 1)}="http://schemas.openxmlformats.org/officeDocument/2006/${kind}"`,
    ),
    ['chart', 'diagram'].map(
      (kind) =>
        `xmlns:${kind === 'chart' ? 'c' : 'dgm'}="http://schemas.openxmlformats.org/drawingml/2006/${kind}"`,
    ),
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:v="urn:schemas-microsoft-com:vml"',
  )
  .join(' ');

/** An archive of these files. */
export async function archive(files: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, data] of Object.entries(files)) zip.addBuffer(Buffer.from(data), name);
  zip.end();
  const parts: Buffer[] = [];
  for await (const part of zip.outputStream) parts.push(Buffer.from(part as Uint8Array));
  return Buffer.concat(parts);
}

/** A part's content: an element with the namespaces of Office. */
export function part(name: string, content: string, attributes = ''): string {
  return `<?xml version="1.0"?><${name} ${NAMESPACES} ${attributes}>${content}</${name}>`;
}

/** A part of relationships: ids with types and targets. */
export function links(targets: Readonly<Record<string, readonly [type: string, target: string]>>): string {
  const list = Object.entries(targets).map(
    ([id, [type, target]]) =>
      `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${list.join('')}</Relationships>`;
}

/** A Word document: its body, and parts by type of relationship, whose ids are their types. */
export function wordFile(
  body: string,
  parts: Readonly<Record<string, string>> = {},
  others: Readonly<Record<string, string | Buffer>> = {},
): Promise<Buffer> {
  const types = Object.keys(parts);
  return archive({
    '_rels/.rels': links({ main: ['officeDocument', 'word/document.xml'] }),
    'word/document.xml': part('w:document', `<w:body>${body}</w:body>`),
    'word/_rels/document.xml.rels': links(
      Object.fromEntries(types.map((id) => [id, [id.replace(/\d+$/, ''), `${id}.xml`] as const])),
    ),
    ...Object.fromEntries(types.map((id) => [`word/${id}.xml`, parts[id] ?? ''])),
    ...others,
  });
}

/** A paragraph of Word with one run; `properties` of the paragraph. */
export function paragraph(text: string, properties = ''): string {
  return `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

/** A shape of a slide; `placeholder`: its type, '' for none. */
export function shape(placeholder: string, ...lines: string[]): string {
  const mark = placeholder === '' ? '' : `<p:ph type="${placeholder}"/>`;
  const text = lines
    .map((line) => (line.startsWith('<') ? line : `<a:p><a:r><a:t>${line}</a:t></a:r></a:p>`))
    .join('');
  return `<p:sp><p:nvSpPr><p:cNvPr id="2" name="x"/><p:cNvSpPr/><p:nvPr>${mark}</p:nvPr></p:nvSpPr><p:txBody><a:bodyPr/>${text}</p:txBody></p:sp>`;
}

interface SlideParts {
  shapes: string;
  attributes?: string;
  /** Parts by type of relationship: their file names, with content. */
  parts?: Readonly<Record<string, string>>;
}

export function slidesFile(
  slides: readonly SlideParts[],
  others: Readonly<Record<string, string>> = {},
  presentationLinks: Readonly<Record<string, readonly [string, string]>> = {},
): Promise<Buffer> {
  const files: Record<string, string> = { ...others };
  slides.forEach(({ shapes, attributes = '', parts = {} }, i) => {
    const name = `slide${i + 1}`;
    files[`ppt/slides/${name}.xml`] = part(
      'p:sld',
      `<p:cSld><p:spTree>${shapes}</p:spTree></p:cSld>`,
      attributes,
    );
    files[`ppt/slides/_rels/${name}.xml.rels`] = links(
      Object.fromEntries(Object.keys(parts).map((type) => [type, [type, `../${type}/${name}.xml`] as const])),
    );
    for (const [type, content] of Object.entries(parts)) files[`ppt/${type}/${name}.xml`] ??= content;
  });
  const ids = slides.map((_, i) => `<p:sldId id="${256 + i}" r:id="s${i + 1}"/>`).join('');
  return archive({
    '_rels/.rels': links({ main: ['officeDocument', 'ppt/presentation.xml'] }),
    'ppt/presentation.xml': part('p:presentation', `<p:sldIdLst>${ids}</p:sldIdLst>`),
    'ppt/_rels/presentation.xml.rels': links({
      ...Object.fromEntries(
        slides.map((_, i) => [`s${i + 1}`, ['slide', `slides/slide${i + 1}.xml`] as const]),
      ),
      ...presentationLinks,
    }),
    ...files,
  });
}

/** A chart with one row of values. */
export function chart(title: string, values: Readonly<Record<string, string>>, format = 'General'): string {
  const points = (list: readonly string[]): string =>
    list.map((value, i) => `<c:pt idx="${i}"><c:v>${value}</c:v></c:pt>`).join('');
  const head = `<c:title><c:tx><c:rich><a:p><a:r><a:t>${title}</a:t></a:r></a:p></c:rich></c:tx></c:title>`;
  const categories = `<c:cat><c:strRef><c:strCache>${points(Object.keys(values))}</c:strCache></c:strRef></c:cat>`;
  const numbers = `<c:val><c:numRef><c:numCache><c:formatCode>${format}</c:formatCode>${points(Object.values(values))}</c:numCache></c:numRef></c:val>`;
  return part(
    'c:chartSpace',
    `<c:chart>${head}<c:plotArea><c:barChart><c:ser>${categories}${numbers}</c:ser></c:barChart></c:plotArea></c:chart>`,
  );
}

/** A diagram's points, each below the one with the index that it names. */
export function diagram(...points: readonly (readonly [text: string, below?: number])[]): string {
  const list = points.map(
    ([text], i) => `<dgm:pt modelId="${i}"><dgm:t><a:p><a:r><a:t>${text}</a:t></a:r></a:p></dgm:t></dgm:pt>`,
  );
  const ties = points.flatMap(([, below], i) =>
    below === undefined ? [] : [`<dgm:cxn srcId="${below}" destId="${i}"/>`],
  );
  return part(
    'dgm:dataModel',
    `<dgm:ptLst>${list.join('')}</dgm:ptLst><dgm:cxnLst>${ties.join('')}</dgm:cxnLst>`,
  );
}
