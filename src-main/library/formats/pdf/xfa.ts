import { attribute, descendants, element, elements, parseXml, type XmlElement } from '../xml.ts';

/**
 * The text of an XFA form (XML Forms Architecture 3.3): the template's texts and fields in order, each field with its caption and the value
 * from the data, then data that no field of the template shows, such as rows of a table that repeats. '' if it has no values.
 */
export function xfaText(xml: string): string {
  const form = parseXml(xml);
  const data = descendants(form, 'datasets').flatMap((sets) => elements(sets, 'data'));
  const values = new Map<string, string[]>();
  for (const leaf of data.flatMap(leavesOf)) {
    const known = values.get(leaf.name) ?? [];
    known.push(ownText(leaf));
    values.set(leaf.name, known);
  }
  const lines = descendants(form, 'template').flatMap((each) => templateLines(each, values));
  const rest = data.flatMap((each) => restLines(each, values));
  return [...lines, ...rest].join('\n');
}

function leavesOf(parent: XmlElement): XmlElement[] {
  const below = elements(parent);
  return below.length === 0 ? [parent] : below.flatMap(leavesOf);
}

function templateLines(node: XmlElement, values: Map<string, string[]>): string[] {
  const { name } = node;
  if (/^(?:hidden|invisible|inactive)$/.test(attribute(node, 'presence') ?? '')) return [];
  if (name === 'draw') return [allText(element(node, 'value'))].filter(Boolean);
  if (name !== 'field' && name !== 'exclGroup')
    return elements(node).flatMap((child) => templateLines(child, values));
  if (name === 'field' && element(node, 'ui', 'button')) return [];
  const own = attribute(node, 'name') ?? '';
  const value = values.get(own)?.shift() ?? allText(element(node, 'value'));
  const caption = allText(element(node, 'caption')).replace(/[:\s]+$/, '') || own;
  return value === '' ? [`${caption}:`] : [`${caption}: ${value}`];
}

/** Values that are still to be read, those of one element in a line. */
function restLines(parent: XmlElement, values: Map<string, string[]>): string[] {
  const isLeaf = (child: XmlElement): boolean => elements(child).length === 0;
  const parts = elements(parent)
    .filter(isLeaf)
    .flatMap((leaf) => {
      const text = ownText(leaf);
      const queue = values.get(leaf.name);
      const at = queue?.indexOf(text) ?? -1;
      if (at < 0) return [];
      queue?.splice(at, 1);
      return text === '' ? [] : [`${leaf.name}: ${text}`];
    });
  return [
    ...(parts.length > 0 ? [parts.join('; ')] : []),
    ...elements(parent).flatMap((child) => (isLeaf(child) ? [] : restLines(child, values))),
  ];
}

function ownText({ children }: XmlElement): string {
  return children
    .filter((child) => typeof child === 'string')
    .join('')
    .trim();
}

function allText(parent: XmlElement | undefined): string {
  if (!parent) return '';
  return [ownText(parent), ...elements(parent).map(allText)].join(' ').replace(/\s+/g, ' ').trim();
}
