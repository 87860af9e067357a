import { z } from 'zod';
import { parseOr } from '../../platform/parse-or.ts';

/**
 * Models how soon a prompt is reused, learned by class of request ("KVCache in the wild", ATC '25, §3.4 and §4.2:
 * within a class, times between two uses follow an exponential distribution, and most entries live short).
 *
 * One exponential fits prefix blocks, which only their own conversation continues. A text chunk is reused soon in its
 * conversation and late in others: so a class has two exponentials, separated by online EM. A prompt is used again with
 * probability p₁ after a time of mean m₁, with p₂ after m₂, or never. After an idle time t, its rate of use is Σ
 * pᵢe^{-t/mᵢ}/mᵢ / (Σ pᵢe^{-t/mᵢ} + 1 − Σ pᵢ), which falls with t.
 *
 * The paper ranks by the probability of a use within an expected lifetime instead. That values a late use as much as an
 * early one, although the entry occupies space for longer: with a lifetime longer than m, it loses to LRU. Keeping the
 * entries with the highest rate gives the most uses per space.
 */
export class ReuseModel {
  readonly #memory: number;
  readonly #classes = new Map<string, ClassStatistics>();
  readonly #all: ClassStatistics;
  readonly #start: ReuseFit;

  /**
   * `memory`: time constant of forgetting, so that day and night each get a separate fit; in the unit of all other
   * times. `state`: an earlier result of state(); anything else is ignored.
   */
  constructor(memory: number, state?: string) {
    if (!(memory > 0)) throw new TypeError('ReuseModel: memory must be a time above 0.');
    this.#memory = memory;
    const known = parseOr(StateSchema.optional(), state, undefined); // an unreadable state is learned again
    this.#start = startOf(memory);
    this.#all = learned(known?.all ?? newCounts(0), this.#start);
    for (const [name, counts] of known?.classes ?? [])
      this.#classes.set(name, learned(counts, this.#all.fit));
  }

  /** The learned state, for the constructor. */
  state(): string {
    const classes = [...this.#classes].map(([name, { counts }]): [string, Counts] => [name, counts]);
    return JSON.stringify({ all: this.#all.counts, classes } satisfies State);
  }

  /** A prompt of the class was used for the first time. */
  used(name: string, now: number): void {
    this.#learn(name, now, ({ counts }) => {
      counts.uses++;
      for (const phase of counts.phases) phase.young++;
    });
  }

  /** A prompt of the class was reused after being idle for `idle`. */
  reused(name: string, idle: number, now: number): void {
    this.#learn(name, now, ({ counts, fit }) => {
      const likely = responsibilities(fit, idle);
      counts.phases.forEach((phase, i) => {
        phase.reuses += likely[i] ?? 0;
        phase.idleSum += (likely[i] ?? 0) * idle;
      });
    });
  }

  /**
   * Expected uses per unit of time for a prompt of the class that has been idle for `idle`. An unknown class counts as
   * average.
   */
  rate(name: string, idle: number): number {
    const { phases, never } = (this.#classes.get(name) ?? this.#all).fit;
    let rate = 0;
    let alive = never;
    for (const { share, mean } of phases) {
      const waiting = share * Math.exp(-idle / mean);
      rate += waiting / mean;
      alive += waiting;
    }
    return rate / alive;
  }

  /**
   * Expected uses per unit of time for prompts of a class that were never used, whenever they were made: that nobody
   * has asked says little about one of many. `prior`: how likely a use is, against the average, until the class is
   * known.
   */
  meanRate(name: string, prior: number): number {
    const { phases, never } = this.#classes.get(name)?.fit ?? this.#all.fit;
    const unknown = PRETENDED / (PRETENDED + (this.#classes.get(name)?.counts.uses ?? 0));
    const uses = phases.reduce((sum, { share }) => sum + share, 0);
    const waiting = phases.reduce((sum, { share, mean }) => sum + share * mean, never * this.#memory);
    return (uses / waiting) * (1 - unknown + unknown * prior);
  }

  #learn(name: string, now: number, change: (learned: ClassStatistics) => void): void {
    let own = this.#classes.get(name);
    if (!own) this.#classes.set(name, (own = learned(newCounts(now), this.#all.fit)));
    for (const [each, prior] of [
      [this.#all, this.#start],
      [own, this.#all.fit],
    ] as const) {
      this.#age(each, now);
      change(each);
      each.fit = fitOf(each.counts, prior);
    }
  }

  #age({ counts, fit }: ClassStatistics, now: number): void {
    const elapsed = now - counts.agedAt;
    if (elapsed <= 0) return;
    const keep = Math.exp(-elapsed / this.#memory);
    counts.uses *= keep;
    counts.phases.forEach((phase, i) => {
      phase.reuses *= keep;
      phase.idleSum *= keep;
      phase.young *= keep * Math.exp(-elapsed / (fit.phases[i]?.mean ?? elapsed));
    });
    counts.agedAt = now;
  }
}

/** One of the exponentials: the share of prompts reused by it, and the mean time until reuse. */
interface Phase {
  share: number;
  mean: number;
}

interface ReuseFit {
  phases: readonly Phase[];
  /** Share that is never reused. */
  never: number;
}

interface ClassStatistics {
  counts: Counts;
  fit: ReuseFit;
}

const Count = z.number().min(0);

const CountsSchema = z.object({
  uses: Count,
  phases: z
    .array(
      z.object({
        /** Expected number of uses too recent to have been reused even if all of them will be. */
        young: Count,
        reuses: Count,
        idleSum: Count,
      }),
    )
    .length(2),
  agedAt: z.number(),
});
type Counts = z.infer<typeof CountsSchema>;

const StateSchema = z.object({ all: CountsSchema, classes: z.array(z.tuple([z.string(), CountsSchema])) });
type State = z.infer<typeof StateSchema>;

/** Number of pseudo-observations, drawn from all classes, that keep a rarely seen class from extreme estimates. */
const PRETENDED = 10;
const LARGEST_SHARE = 0.999;
/** Initial fit: two times well below the memory, and far enough apart to be separable. */
function startOf(memory: number): ReuseFit {
  const phases = [memory / 10_000, memory / 100].map((mean): Phase => ({ share: 0.25, mean }));
  return { phases, never: 0.5 };
}

function newCounts(now: number): Counts {
  const phase = () => ({ young: 0, reuses: 0, idleSum: 0 });
  return { uses: 0, phases: [phase(), phase()], agedAt: now };
}

function learned(counts: Counts, prior: ReuseFit): ClassStatistics {
  return { counts, fit: fitOf(counts, prior) };
}

function fitOf({ uses, phases }: Counts, prior: ReuseFit): ReuseFit {
  const fitted = phases.map(({ young, reuses, idleSum }, i): Phase => {
    const { share, mean } = prior.phases[i] as Phase;
    const pretended = PRETENDED * share;
    return {
      share: (reuses + pretended) / (Math.max(0, uses - young) + PRETENDED),
      mean: (idleSum + pretended * mean) / (reuses + pretended),
    };
  });
  const sum = fitted.reduce((total, { share }) => total + share, 0);
  const scale = Math.min(1, LARGEST_SHARE / sum);
  for (const phase of fitted) phase.share *= scale;
  return { phases: fitted, never: 1 - sum * scale };
}

/** Probability of each phase given a reuse after this time. */
function responsibilities({ phases }: ReuseFit, idle: number): number[] {
  const densities = phases.map(({ share, mean }) => (share / mean) * Math.exp(-idle / mean));
  const sum = densities.reduce((total, density) => total + density, 0);
  if (sum > 0) return densities.map((density) => density / sum);
  const slowest = Math.max(...phases.map(({ mean }) => mean));
  return phases.map(({ mean }) => Number(mean === slowest));
}
