import { z } from 'zod';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { parseOr } from '../platform/parse-or.ts';

const CountsSchema = z.object({ ram: z.int(), disk: z.int(), misses: z.int() });
type Counts = z.infer<typeof CountsSchema>;

const KEY = 'cache-hits';

/** The store counts since it was opened; people want the total since installation. */
export class HitCounts {
  readonly #catalogue: Pick<Catalogue, 'state' | 'setState'>;
  readonly #before: Counts;

  constructor(catalogue: Pick<Catalogue, 'state' | 'setState'>) {
    this.#catalogue = catalogue;
    this.#before = parseOr(CountsSchema, catalogue.state(KEY), { ram: 0, disk: 0, misses: 0 });
  }

  /** Adds this run's counts; stores and returns the total. */
  update(now: Counts): Counts {
    const { ram, disk, misses } = this.#before;
    const total = { ram: ram + now.ram, disk: disk + now.disk, misses: misses + now.misses };
    this.#catalogue.setState(KEY, JSON.stringify(total));
    return total;
  }
}
