import { ownValue } from '../../../../src-shared/own-value.ts';
import { attribute, descendants, element, elements, type XmlElement } from '../xml.ts';
import { formatNumber } from './word-numbers.ts';

interface ListLevel {
  /** undefined for a bullet; '' for a level without a mark. */
  format: string | undefined;
  prefix: string;
  suffix: string;
  /** How many levels the number shows. */
  levels: number;
  start: number;
}

const FORMATS: Readonly<Record<string, string>> = {
  a: 'lowerLetter',
  A: 'upperLetter',
  i: 'lowerRoman',
  I: 'upperRoman',
  '1': 'decimal',
};

/** Styles of an OpenDocument file, those of its own paragraphs and the common ones (OpenDocument 1.3 part 3, 16). */
export class OdfStyles {
  readonly #styles = new Map<string, XmlElement>();
  readonly #lists = new Map<string, ListLevel[]>();
  readonly #counts = new Map<string, (number | undefined)[]>();

  constructor(roots: readonly (XmlElement | undefined)[]) {
    for (const root of roots) {
      for (const group of elements(root).filter(
        ({ name }) => name === 'styles' || name === 'automatic-styles',
      )) {
        for (const style of elements(group)) {
          const name = attribute(style, 'name') ?? '';
          if (style.name === 'style') this.#styles.set(name, style);
          if (style.name === 'list-style') this.#lists.set(name, listLevels(style));
          if (style.name === 'outline-style') this.#lists.set('', listLevels(style));
        }
      }
    }
  }

  /** Whether text in this style is hidden. */
  isHidden(name: string | undefined): boolean {
    return (
      this.#find(name, (style) => {
        const text = element(style, 'text-properties');
        return text && attribute(text, 'display');
      }) === 'none'
    );
  }

  isHiddenPage(name: string | undefined): boolean {
    return (
      this.#find(name, (style) => {
        const page = element(style, 'drawing-page-properties');
        return page && attribute(page, 'visibility');
      }) === 'hidden'
    );
  }

  isTitle(name: string | undefined): boolean {
    return (
      name === 'Title' ||
      this.#find(name, (style) => (attribute(style, 'parent-style-name') === 'Title' ? 'yes' : undefined)) ===
        'yes'
    );
  }

  listOf(name: string | undefined): string | undefined {
    return this.#find(name, (style) => attribute(style, 'list-style-name') || undefined);
  }

  /** Master pages that paragraphs change to. */
  masterPages(): Set<string> {
    return new Set([
      'Standard',
      ...[...this.#styles.values()].map((style) => attribute(style, 'master-page-name') ?? ''),
    ]);
  }

  /** Starts a list anew. */
  restart(list: string): void {
    this.#counts.delete(list);
  }

  /** The next mark of a list ('' for the outline of headings), from level 0: `1.1`, `(a)`, `-` for a bullet. */
  next(list: string, at: number, start: number | undefined): string {
    const levels = this.#lists.get(list);
    const level = levels?.[at];
    if (!level) return list === '' ? '' : '-';
    if (level.format === undefined) return '-';
    const counts = this.#counts.get(list) ?? [];
    this.#counts.set(list, counts);
    const last = counts[at];
    counts[at] = start ?? (last === undefined ? level.start : last + 1);
    counts.length = at + 1;
    if (level.format === '') return '';
    const shown: string[] = [];
    for (let i = Math.max(at - level.levels + 1, 0); i <= at; i += 1) {
      const format = levels[i]?.format;
      if (format)
        shown.push(formatNumber(counts[i] ?? levels[i]?.start ?? 1, ownValue(FORMATS, format) ?? 'decimal'));
    }
    return `${level.prefix}${shown.join('.')}${level.suffix}`.trim();
  }

  #find(name: string | undefined, get: (style: XmlElement) => string | undefined): string | undefined {
    let at = name;
    for (let i = 0; at !== undefined && i < 20; i += 1) {
      const style = this.#styles.get(at);
      const found = style && get(style);
      if (found !== undefined) return found;
      at = style && attribute(style, 'parent-style-name');
    }
    return undefined;
  }
}

function listLevels(style: XmlElement): ListLevel[] {
  const levels: ListLevel[] = [];
  for (const level of elements(style)) {
    const at = Number(attribute(level, 'level')) - 1;
    if (!(at >= 0 && at < 10)) continue;
    const isNumber = level.name === 'list-level-style-number' || level.name === 'outline-level-style';
    levels[at] = {
      format: isNumber ? (attribute(level, 'num-format') ?? '') : undefined,
      prefix: attribute(level, 'num-prefix') ?? '',
      suffix: attribute(level, 'num-suffix') ?? '',
      levels: Number(attribute(level, 'display-levels') ?? 1),
      start: Number(attribute(level, 'start-value') ?? 1),
    };
  }
  return levels;
}

/** Headers or footers of the master pages that are used. */
export function odfEdges(
  styles: OdfStyles,
  root: XmlElement | undefined,
  kind: 'header' | 'footer',
): XmlElement[] {
  const used = styles.masterPages();
  return descendants(root, 'master-page')
    .filter((page) => used.has(attribute(page, 'name') ?? ''))
    .flatMap((page) => elements(page))
    .filter((edge) => edge.name.startsWith(kind) && attribute(edge, 'display') !== 'false');
}
