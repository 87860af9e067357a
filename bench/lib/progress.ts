/** Milliseconds between two lines without a terminal. */
const LINE_MS = 60_000;

/** Progress display: continuous on a terminal, else one line a minute. */
export class Progress {
  readonly #total: number;
  readonly #started = performance.now();
  #done = 0;
  #toldMs = 0;

  constructor(total: number) {
    this.#total = total;
  }

  step(): void {
    this.#done++;
    const ms = performance.now() - this.#started;
    const left = Math.round(((ms / this.#done) * (this.#total - this.#done)) / 60_000);
    const line = `${this.#done} of ${this.#total}, about ${left} min left`;
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
