import { figuresOf } from './figures.ts';
import { haystackOf, holdsWord, type Haystack } from './haystack.ts';
import { namesOf, overlap, type Name } from './names.ts';

/** A name, number or date in a text that other texts may or may not contain. */
export interface Fact extends Name {
  kind: 'name' | 'number' | 'date';
}

/** The names, numbers and dates of a text, ascending; numbers of list items and citations ("[2]") do not count. */
export function factsOf(text: string): Fact[] {
  const figures = figuresOf(text).filter((figure) => !isMarker(text, figure));
  const names = namesOf(text).filter((name) => !figures.some((figure) => contains(figure, name)));
  const others = figures.filter((figure) => !names.some((name) => overlap(name, figure)));
  return [
    ...names.map((name): Fact => ({ ...name, kind: 'name' })),
    ...others.map((figure): Fact => ({ ...figure, sure: true })),
  ].sort((a, b) => a.start - b.start);
}

function contains(outer: { start: number; end: number }, inner: { start: number; end: number }): boolean {
  return outer.start <= inner.start && outer.end >= inner.end;
}

function isMarker(text: string, { start, end }: { start: number; end: number }): boolean {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  if (/^[\s>*#]*\(?$/u.test(before) && /^[.)]\s/u.test(text.slice(end)) && end - start <= 3) return true;
  return /\[[\d,\s]*$/u.test(before) && /^[\d,\s]*\]/u.test(text.slice(end));
}

/** Whether the texts contain a fact, in whatever notation. */
function isHeld({ kind, forms }: Fact, haystack: Haystack): boolean {
  if (kind !== 'name')
    return forms.some((form) => haystack.figures.has(form) || holdsDateInParts(form, haystack));
  const [form = ''] = forms;
  if (form.startsWith(' ')) return haystack.tokens.includes(form);
  return /\p{Script=Han}/u.test(form) ? haystack.compact.includes(form) : holdsWord(haystack, forms);
}

/** "1 May" in one place and its year in another. */
function holdsDateInParts(form: string, { figures }: Haystack): boolean {
  const [year = '', month, day = ''] = form.split('-');
  return (
    month !== undefined && year !== '' && day !== '' && figures.has(`-${month}-${day}`) && figures.has(year)
  );
}

/** The facts of a text that none of these texts contains. */
export function missingFacts(text: string, texts: readonly string[]): Fact[] {
  const facts = factsOf(text);
  if (facts.length === 0) return [];
  const haystack = haystackOf(texts);
  return facts.filter((fact) => !isHeld(fact, haystack));
}
