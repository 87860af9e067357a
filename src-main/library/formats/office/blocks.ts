import type { ParsedHeading } from '../format.ts';

/** A document's text, made block by block. */
export class TextBlocks {
  readonly headings: ParsedHeading[] = [];
  #text = '';
  #inList = false;

  get text(): string {
    return this.#text;
  }

  heading(level: number, title: string): void {
    const line = oneLine(title);
    if (line === '') return;
    const marks = '#'.repeat(Math.min(Math.max(level || 1, 1), 6));
    this.#add(`${marks} ${line}`, false);
    this.headings.push({
      start: this.#text.length - marks.length - 1 - line.length,
      level: marks.length,
      title: line,
    });
  }

  /** Lines of a paragraph, a table or a list. */
  paragraph(text: string): void {
    this.#add(tidyLines(text), false);
  }

  /** An item follows the one before it without a blank line. `depth`: 0 for the outermost. */
  item(mark: string, text: string, depth = 0): void {
    const words = tidyLines(text);
    if (words !== '') this.#add(`${'  '.repeat(depth)}${mark} ${words}`, true);
  }

  include(text: string, headings: readonly ParsedHeading[]): void {
    if (text.trim() === '') return;
    this.#add(text.trimEnd(), false);
    const start = this.#text.length - text.trimEnd().length;
    for (const heading of headings) this.headings.push({ ...heading, start: start + heading.start });
  }

  #add(block: string, inList: boolean): void {
    if (block === '') return;
    if (this.#text !== '') this.#text += inList && this.#inList ? '\n' : '\n\n';
    this.#text += block;
    this.#inList = inList;
  }
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Lines without white space around them, or runs of it inside. */
function tidyLines(text: string): string {
  return text
    .split('\n')
    .map(oneLine)
    .filter((line) => line !== '')
    .join('\n');
}

/** What was left out or needs saying, counted by kind. */
export class Remarks {
  readonly #counts = new Map<string, number>();

  add(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  count(kind: string): number {
    return this.#counts.get(kind) ?? 0;
  }

  /** Kinds that begin with `prefix`, without it, with their counts: “2 × Equation.3”. */
  list(prefix: string): string {
    return [...this.#counts]
      .filter(([kind]) => kind.startsWith(prefix))
      .map(([kind, count]) => `${kind.slice(prefix.length)}${count > 1 ? ` (${count} times)` : ''}`)
      .join(', ');
  }
}

/** “3 deletions”, “1 deletion”. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
