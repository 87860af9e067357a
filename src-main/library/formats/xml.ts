import { Parser } from 'htmlparser2';

interface XmlHandler {
  /** `path`: the names of the enclosing elements and its own, outermost first. */
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string, inside: readonly string[]): void;
  close?(name: string): void;
}

/** Parses an XML document as a stream. Entities other than XML's predefined ones are not expanded, so none can grow. */
export function readXml(xml: string, handler: XmlHandler): void {
  const inside: string[] = [];
  const parser = new Parser(
    {
      onopentag: (name, attributes) => {
        inside.push(name);
        handler.open?.(name, attributes);
      },
      ontext: (text) => handler.text?.(text, inside),
      onclosetag: (name) => {
        inside.pop();
        handler.close?.(name);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.end(xml);
}

/** An element of a parsed document. Names have no prefix: writers choose it freely. */
export interface XmlElement {
  name: string;
  /** With their prefixes: `id` and `r:id` are different attributes of one element. */
  attributes: Readonly<Record<string, string>>;
  children: (XmlElement | string)[];
}

/** Elements nested deeper than this become children of the last one above, so that recursion over a tree has a bound. */
const MAX_DEPTH = 300;

/** Parses an XML document as a tree, under an element without a name. Entities as in `readXml`. `ignored`: elements to leave out, by name. */
export function parseXml(xml: string, ignored?: ReadonlySet<string>): XmlElement {
  const root: XmlElement = { name: '', attributes: {}, children: [] };
  const inside = [root];
  readXml(xml, {
    open: (name, attributes) => {
      const element: XmlElement = { name: localName(name), attributes, children: [] };
      const parent = inside[Math.min(inside.length, MAX_DEPTH) - 1] ?? root;
      if (ignored?.has(element.name) !== true) parent.children.push(element);
      inside.push(element);
    },
    text: (text) => (inside.at(-1) ?? root).children.push(text),
    close: () => inside.pop(),
  });
  return root;
}

/** An attribute by its name without prefix. */
export function attribute({ attributes }: XmlElement, name: string): string | undefined {
  const plain = attributes[name];
  if (plain !== undefined) return plain;
  const key = Object.keys(attributes).find((full) => full.endsWith(`:${name}`));
  return key === undefined ? undefined : attributes[key];
}

/** The child elements, those of this name if one is given. */
export function elements(parent: XmlElement | undefined, name?: string): XmlElement[] {
  if (parent === undefined) return [];
  return parent.children.filter(
    (child): child is XmlElement => typeof child !== 'string' && (name === undefined || child.name === name),
  );
}

/** The element at the end of a path of child elements. */
export function element(parent: XmlElement | undefined, ...path: string[]): XmlElement | undefined {
  let found = parent;
  for (const name of path) found = elements(found, name)[0];
  return found;
}

/** All elements of this name below, in document order; none inside another of them. */
export function descendants(parent: XmlElement | undefined, name: string): XmlElement[] {
  return elements(parent).flatMap((child) => (child.name === name ? [child] : descendants(child, name)));
}

export function textOf(parent: XmlElement | undefined): string {
  if (parent === undefined) return '';
  return parent.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** Resolves a reference inside an archive, e.g. `ppt/slides` and `../media/a.png`. */
export function joinParts(folder: string, target: string): string {
  const parts = target.startsWith('/') ? [] : folder.split('/').filter(Boolean);
  for (const part of target.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

/** The name of an element without its namespace's prefix. */
export function localName(name: string): string {
  return name.replace(/^.*:/, '');
}
