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

/** Relationships of a part of an Office document: id → path of the part it leads to. */
export function readRelationships(xml: string, folder: string): Map<string, string> {
  const targets = new Map<string, string>();
  readXml(xml, {
    open: (name, { Id, Target, TargetMode }) => {
      if (name !== 'Relationship' || Id === undefined || Target === undefined || TargetMode === 'External')
        return;
      targets.set(Id, joinParts(folder, Target));
    },
  });
  return targets;
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
