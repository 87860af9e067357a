import { z } from 'zod';

/**
 * How soon a prompt is used again, learned by class of request ("KVCache in the wild", ATC '25, §3.4 and §4.2: within a
 * class, times between two uses follow an exponential distribution, and most entries live short).
 *
 * A prompt of a class is used again with probability p, and then after an exponential time of mean m. Having lain idle for
 * t, it is one that will be with probability a = p e^{-t/m} / (p e^{-t/m} + 1 − p), and is used at the rate a / m.
 *
 * The paper ranks by the probability of a use within an expected life instead. That values a use that comes late as much
 * as one that comes soon, though the former occupies its place for longer: with a life longer than m, it loses to LRU. The
 * rate falls with t, so keeping what has the highest one gives the most uses for the space it takes.
 */
export class ReuseModel {
  readonly #memory: number;
  readonly #classes = new Map<string, Counts>();
  #all = newCounts(0);

  /** `memory`: time constant of forgetting, so that day and night each get their own fit; in the unit of all other times. */
  constructor(memory: number, state?: string) {
    if (!(memory > 0)) throw new TypeError('ReuseModel: memory must be a time above 0.');
    this.#memory = memory;
    const known = readState(state);
    if (!known) return;
    this.#all = known.all;
    for (const [name, counts] of known.classes) this.#classes.set(name, counts);
  }

  /** All that was learned, for a constructor. */
  state(): string {
    return JSON.stringify({ all: this.#all, classes: [...this.#classes] } satisfies State);
  }

  /** A prompt of the class came in. */
  used(name: string, now: number): void {
    for (const counts of this.#at(name, now)) {
      counts.uses++;
      counts.young++;
    }
  }

  /** A prompt of the class was used again after lying idle for `idle`. */
  reused(name: string, idle: number, now: number): void {
    for (const counts of this.#at(name, now)) {
      counts.reuses++;
      counts.idleSum += idle;
    }
  }

  /** Expected uses in a unit of time, of a prompt of the class that lies idle for `idle`. */
  rate(name: string, idle: number): number {
    const { share, mean } = this.#fit(name);
    const alive = share * Math.exp(-idle / mean);
    return alive / (alive + 1 - share) / mean;
  }

  /** What was learned of a class: the share that is used again, and the mean time until it is. */
  #fit(name: string): Fit {
    const counts = this.#classes.get(name);
    return counts ? fitOf(counts, this.#fitOfAll()) : this.#fitOfAll();
  }

  /** Before anything was used again there is nothing to tell classes apart by. */
  #fitOfAll(): Fit {
    const { reuses, idleSum } = this.#all;
    return fitOf(this.#all, { share: 0.5, mean: reuses > 0 ? idleSum / reuses : this.#memory });
  }

  #at(name: string, now: number): [Counts, Counts] {
    let counts = this.#classes.get(name);
    if (!counts) this.#classes.set(name, (counts = newCounts(now)));
    for (const each of [counts, this.#all]) this.#age(each, now);
    return [counts, this.#all];
  }

  #age(counts: Counts, now: number): void {
    const elapsed = now - counts.agedAt;
    if (elapsed <= 0) return;
    const { mean } = fitOf(counts, this.#fitOfAll());
    const keep = Math.exp(-elapsed / this.#memory);
    counts.uses *= keep;
    counts.reuses *= keep;
    counts.idleSum *= keep;
    counts.young *= keep * Math.exp(-elapsed / mean);
    counts.agedAt = now;
  }
}

interface Fit {
  share: number;
  mean: number;
}

const Count = z.number().min(0);

const CountsSchema = z.object({
  uses: Count,
  /** Of the uses, those that would not have been followed by another yet even if they all were to be. */
  young: Count,
  reuses: Count,
  idleSum: Count,
  agedAt: z.number(),
});
type Counts = z.infer<typeof CountsSchema>;

const StateSchema = z.object({ all: CountsSchema, classes: z.array(z.tuple([z.string(), CountsSchema])) });
type State = z.infer<typeof StateSchema>;

/** What cannot be read is nothing: it is learned again. */
function readState(text: string | undefined): State | undefined {
  try {
    return StateSchema.safeParse(JSON.parse(text ?? '')).data;
  } catch {
    return undefined;
  }
}

/** So many pretended uses like those of all classes keep a class that was hardly seen between the extremes. */
const PRETENDED = 10;
const LARGEST_SHARE = 0.999;

function newCounts(now: number): Counts {
  return { uses: 0, young: 0, reuses: 0, idleSum: 0, agedAt: now };
}

function fitOf({ uses, young, reuses, idleSum }: Counts, prior: Fit): Fit {
  const pretended = PRETENDED * prior.share;
  const share = Math.min(LARGEST_SHARE, (reuses + pretended) / (uses - young + PRETENDED));
  return { share, mean: (idleSum + pretended * prior.mean) / (reuses + pretended) };
}
