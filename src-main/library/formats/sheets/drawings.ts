import { chartText, diagramText, paragraphsOf } from '../office/drawings.ts';
import type { OfficePackage, Relationship } from '../office/package.ts';
import { pictureText } from '../pictures.ts';
import { attribute, descendants, element, elements, type XmlElement } from '../xml.ts';
import type { Sheet } from './sheet.ts';

/** Text boxes, charts and diagrams that lie on a sheet (ECMA-376 part 1, 20.5). */
export async function readDrawings(
  book: OfficePackage,
  links: ReadonlyMap<string, Relationship>,
  sheet: Sheet,
): Promise<void> {
  let pictures = 0;
  for (const link of links.values()) {
    if (link.type !== 'drawing' || link.external) continue;
    const root = await book.xml(link.target);
    const targets = await book.relationships(link.target);
    for (const shape of shapesIn(root)) {
      const text = await shapeText(book, shape, targets);
      if (text !== '') sheet.drawings.push(text);
      else if (shape.name === 'graphicFrame')
        sheet.warnings.push(`A chart or object in sheet “${sheet.name}” has no text that can be read.`);
      else if (shape.name === 'pic') pictures++;
    }
  }
  if (pictures > 0) sheet.warnings.push(`Pictures in sheet “${sheet.name}” were not read: ${pictures}.`);
}

/** Visible shapes in groups too. Of alternatives, the first: the others are for programs that do not know it. */
function shapesIn(parent: XmlElement | undefined): XmlElement[] {
  return elements(parent).flatMap((node) => {
    if (node.name === 'Fallback' || isHidden(node)) return [];
    return ['sp', 'graphicFrame', 'pic', 'cxnSp'].includes(node.name) ? [node] : shapesIn(node);
  });
}

function isHidden(shape: XmlElement): boolean {
  return /^(?:1|true)$/.test(property(shape, 'hidden') ?? '');
}

function property(shape: XmlElement, name: string): string | undefined {
  const own = elements(shape).find((child) => /^nv\w*Pr$/.test(child.name));
  const properties = element(own, 'cNvPr');
  return properties && attribute(properties, name);
}

async function shapeText(
  book: OfficePackage,
  shape: XmlElement,
  targets: ReadonlyMap<string, Relationship>,
): Promise<string> {
  if (shape.name === 'pic') return pictureText(property(shape, 'descr'));
  if (shape.name !== 'graphicFrame') return paragraphsOf(shape).filter(Boolean).join('\n');
  const part = async (node: XmlElement | undefined, id: string): Promise<XmlElement | undefined> => {
    const target = node && targets.get(attribute(node, id) ?? '')?.target;
    return target === undefined ? undefined : book.xml(target);
  };
  const chart = await part(descendants(shape, 'chart')[0], 'id');
  const diagram = await part(descendants(shape, 'relIds')[0], 'dm');
  return chart ? chartText(chart) : diagram ? diagramText(diagram) : '';
}
