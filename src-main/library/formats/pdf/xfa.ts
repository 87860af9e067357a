import { localName, readXml } from '../xml.ts';

/** An element of the template or of the data. */
interface Element {
  name: string;
  attributes: Readonly<Record<string, string>>;
  text: string;
  children: Element[];
}

/** More elements, and more within each other, than any form has. */
const MAX_ELEMENTS = 50_000;
const MAX_DEPTH = 100;

/**
 * The text of an XFA form (XML Forms Architecture 3.3): the template's texts and fields in order, each field with its caption and the value
 * from the data, then data that no field of the template shows, such as rows of a table that repeats. '' if it has no values.
 */
export function xfaText(xml: string): string {
  const { template, data } = partsOf(xml);
  const values = new Map<string, string[]>();
  for (const leaf of leavesOf(data))
    values.set(leaf.name, [...(values.get(leaf.name) ?? []), leaf.text.trim()]);
  const lines = template.flatMap((element) => templateLines(element, values));
  const rest = data.flatMap((element) => restLines(element, values));
  return [...lines, ...rest].join('\n');
}

function partsOf(xml: string): { template: Element[]; data: Element[] } {
  const template: Element[] = [];
  const data: Element[] = [];
  const open: Element[] = [];
  let count = 0;
  readXml(xml, {
    open: (name, attributes) => {
      const element: Element = { name: localName(name), attributes, text: '', children: [] };
      if (count++ < MAX_ELEMENTS && open.length < MAX_DEPTH) open.at(-1)?.children.push(element);
      open.push(element);
    },
    text: (text) => {
      const element = open.at(-1);
      if (element) element.text += text;
    },
    close: () => {
      const element = open.pop();
      if (element?.name === 'template') template.push(element);
      else if (element?.name === 'data' && open.at(-1)?.name === 'datasets') data.push(element);
    },
  });
  return { template, data };
}

function leavesOf(elements: readonly Element[]): Element[] {
  return elements.flatMap((element) =>
    element.children.length === 0 ? [element] : leavesOf(element.children),
  );
}

function templateLines(element: Element, values: Map<string, string[]>): string[] {
  const { name, attributes, children } = element;
  if (/^(?:hidden|invisible|inactive)$/.test(attributes['presence'] ?? '')) return [];
  if (name === 'draw') return [allText(childOf(element, 'value'))].filter(Boolean);
  if (name !== 'field' && name !== 'exclGroup')
    return children.flatMap((child) => templateLines(child, values));
  if (name === 'field' && childOf(childOf(element, 'ui'), 'button')) return [];
  const own = attributes['name'] ?? '';
  const value = values.get(own)?.shift() ?? allText(childOf(element, 'value'));
  const caption = allText(childOf(element, 'caption')).replace(/[:\s]+$/, '') || own;
  return value === '' ? [`${caption}:`] : [`${caption}: ${value}`];
}

/** Values that are still to be read, those of one element in a line. */
function restLines(element: Element, values: Map<string, string[]>): string[] {
  const leaves = element.children.filter(({ children }) => children.length === 0);
  const parts = leaves.flatMap(({ name, text }) => {
    const queue = values.get(name);
    const at = queue?.indexOf(text.trim()) ?? -1;
    if (at < 0) return [];
    queue?.splice(at, 1);
    return text.trim() === '' ? [] : [`${name}: ${text.trim()}`];
  });
  const below = element.children.filter(({ children }) => children.length > 0);
  return [
    ...(parts.length > 0 ? [parts.join('; ')] : []),
    ...below.flatMap((child) => restLines(child, values)),
  ];
}

function childOf(element: Element | undefined, name: string): Element | undefined {
  return element?.children.find((child) => child.name === name);
}

function allText(element: Element | undefined): string {
  if (!element) return '';
  return [element.text, ...element.children.map(allText)].join(' ').replace(/\s+/g, ' ').trim();
}
