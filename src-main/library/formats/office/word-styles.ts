import { element, elements, type XmlElement } from '../xml.ts';
import { isOn, value } from './word-numbers.ts';

export interface WordStyle {
  name: string;
  basedOn: string | undefined;
  paragraph: XmlElement | undefined;
  run: XmlElement | undefined;
}

export function readWordStyles(root: XmlElement | undefined): Map<string, WordStyle> {
  return new Map(
    elements(root, 'style').map((style) => [
      Object.entries(style.attributes).find(([name]) => name.endsWith('styleId'))?.[1] ?? '',
      {
        name: value(style, 'name') ?? '',
        basedOn: value(style, 'basedOn'),
        paragraph: element(style, 'pPr'),
        run: element(style, 'rPr'),
      },
    ]),
  );
}

/** A style and those that it is based on, itself first. */
export function styleChain(
  styles: ReadonlyMap<string, WordStyle>,
  id: string | undefined,
): [string, WordStyle][] {
  const chain: [string, WordStyle][] = [];
  for (let at = id; at !== undefined && chain.length < 20;) {
    const style = styles.get(at);
    if (!style) break;
    chain.push([at, style]);
    at = style.basedOn;
  }
  return chain;
}

/** 0 for text. A style's outline level counts, then its name, which is English in every document. */
export function headingLevel(
  properties: XmlElement | undefined,
  styles: readonly [string, WordStyle][],
): number {
  const own = value(properties, 'outlineLvl');
  if (own !== undefined) return (Number(own) + 1) % 10;
  for (const [, { name, paragraph }] of styles) {
    const outline = value(paragraph, 'outlineLvl');
    if (outline !== undefined) return (Number(outline) + 1) % 10;
    const [, digit] = /^heading (\d)$/i.exec(name) ?? [];
    if (digit !== undefined) return Number(digit);
    if (/^title$/i.test(name)) return 1;
  }
  return 0;
}

/** Whether text in the first of these styles that says so is hidden. */
export function hidesText(styles: readonly [string, WordStyle][]): boolean {
  const vanish = styles.map(([, { run }]) => element(run, 'vanish')).find(Boolean);
  return vanish !== undefined && isOn(vanish);
}
