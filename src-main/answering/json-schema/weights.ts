import { joined, keyOf, unsupportedSchema, type Parts } from './part.ts';
import type { ArrayShape, ObjectShape, Shapes } from './shapes.ts';

/** Ways to read one text that libllama follows side by side. */
const MOST_WEIGHT = 256;

interface Weighed {
  readonly at: string;
  /** Of this value alone. */
  readonly ways: number;
  readonly inner: ReadonlySet<string>;
}

/**
 * Bounds how ambiguous a grammar is. libllama follows all ways to read what was written, so alternatives that begin alike multiply with
 * each level of nesting: without end where they contain themselves.
 */
export class Weights {
  readonly #shapes: Shapes;
  readonly #weighed = new Map<string, Weighed>();

  constructor(shapes: Shapes) {
    this.#shapes = shapes;
  }

  add(parts: Parts): void {
    const objects = this.#shapes.objects(parts);
    const arrays = this.#shapes.arrays(parts);
    const inner = [
      ...objects.flatMap(({ named, others }) => [...named, ...others].map(({ values }) => values)),
      ...arrays.flatMap(({ first, rest }) => [...first, rest]),
    ];
    this.#weighed.set(keyOf(parts), {
      at: parts[0]?.at ?? '#',
      ways: Math.max(this.#mostAlike(objects.map(firstOfObject)), this.#mostAlike(arrays.map(firstOfArray))),
      inner: new Set(inner.map(keyOf)),
    });
  }

  /** BAD_ARGUMENT if alternatives multiply too much. */
  check(): void {
    const weights = new Map<string, number>();
    for (let changed = true; changed;) {
      changed = false;
      for (const [key, { at, ways, inner }] of this.#weighed) {
        const weight = ways * Math.max(1, ...[...inner].map((each) => weights.get(each) ?? 1));
        if (weight > MOST_WEIGHT)
          throw unsupportedSchema(
            at,
            'has alternatives that begin alike: put the property that tells them apart first',
          );
        changed ||= weight !== (weights.get(key) ?? 1);
        weights.set(key, weight);
      }
    }
  }

  #mostAlike(shapes: readonly (readonly First[])[]): number {
    const counts = shapes.map(
      (one) => shapes.filter((other) => one === other || !this.#toldApart(one, other)).length,
    );
    return Math.max(1, ...counts);
  }

  /** Whether values are told apart by what they begin with, before anything nested is written. */
  #toldApart(ones: readonly First[], others: readonly First[]): boolean {
    for (const [i, one] of ones.entries()) {
      const other = others[i];
      if (!other) return false;
      if (one.name !== other.name) return true;
      if (!this.#isScalar(one.values) || !this.#isScalar(other.values)) return false;
      if (this.#shapes.isEmpty(joined([...one.values, ...other.values]))) return true;
    }
    return false;
  }

  #isScalar(values: Parts): boolean {
    return this.#shapes.objects(values).length + this.#shapes.arrays(values).length === 0;
  }
}

/** What a value always begins with. */
interface First {
  readonly name?: string;
  readonly values: Parts;
}

function firstOfObject({ named }: ObjectShape): readonly First[] {
  const optional = named.findIndex(({ needed }) => !needed);
  return optional < 0 ? named : named.slice(0, optional);
}

function firstOfArray({ first, least }: ArrayShape): readonly First[] {
  return first.slice(0, least).map((values) => ({ values }));
}
