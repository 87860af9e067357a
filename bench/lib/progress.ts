/** Milliseconds between two lines without a terminal. */
const LINE_MS = 60_000;

/** Progress display: continuous on a terminal, else one line a minute. */
export class Progress {
  readonly #total: number;
  readonly #what: string;
  readonly #started = performance.now();
  #done = 0;
  #toldMs = 0;

  /** `what`: the work, if its lines need a name. */
  constructor(total: number, what = '') {
    this.#total = total;
    this.#what = what && `${what}: `;
  }

  step(): void {
    this.at(this.#done + 1, this.#total);
  }

  /** `total`: it may grow. */
  at(done: number, total: number): void {
    this.#done = done;
    const ms = performance.now() - this.#started;
    const left = Math.round(((ms / done) * (total - done)) / 60_000);
    const line = `${this.#what}${done} of ${total}, about ${left} min left`;
    if (process.stderr.isTTY) process.stderr.write(`\r${line} `);
    else if (ms - this.#toldMs >= LINE_MS) {
      this.#toldMs = ms;
      console.error(line);
    }
  }

  get seconds(): string {
    return ((performance.now() - this.#started) / 1000).toFixed(0);
  }
}
