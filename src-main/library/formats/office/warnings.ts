import { counted, type Remarks } from './blocks.ts';

/** Sentences about what a document's reader left out or read in one of several ways. */
export function warningsOf(remarks: Remarks): string[] {
  const changes = ['insertion', 'deletion', 'move'].flatMap((kind) => {
    const count = remarks.count(kind);
    return count === 0 ? [] : [counted(count, kind)];
  });
  const sentence = (kind: string, text: (count: number) => string): string =>
    remarks.count(kind) === 0 ? '' : text(remarks.count(kind));
  const [symbols, objects] = [remarks.list('symbol:'), remarks.list('object:')];
  return [
    changes.length > 0 ? `Tracked changes were read as accepted: ${changes.join(', ')}.` : '',
    sentence('hidden', (count) => `Hidden text was left out: ${counted(count, 'piece')}.`),
    sentence('chunk', (count) => `Inserted documents of a kind that is not read were left out: ${count}.`),
    sentence('chart', (count) => `Charts that keep no values were left out: ${count}.`),
    sentence('diagram', (count) => `Diagrams without text were left out: ${count}.`),
    sentence('drawing', (count) => `Hidden drawings were left out: ${count}.`),
    sentence('formula', (count) => `Formulas were read without fractions and exponents: ${count}.`),
    symbols === '' ? '' : `Symbols without a Unicode character were left out, of the fonts ${symbols}.`,
    objects === '' ? '' : `Embedded objects were left out: ${objects}.`,
  ].filter(Boolean);
}
