// All of setup's output goes to stderr, so that a command's own stdout stays clean (`npm start -- ask --json`).

const NAME_WIDTH = 10;
const live = process.stderr.isTTY;

/** One line per step: "  packages    183 packages, Node 24.21.0  (18.2 s)". On a terminal it is updated live. */
export class StepLine {
  #name;
  #started = performance.now();
  #note = '';
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /** @param {string} name */
  constructor(name) {
    this.#name = name;
    if (live) {
      this.#timer = setInterval(() => this.#draw(), 250);
      this.#draw();
    } else {
      process.stderr.write(`  ${name.padEnd(NAME_WIDTH)}  `);
    }
  }

  /** @param {string} note the current activity */
  update(note) {
    this.#note = note;
    if (live) this.#draw();
  }

  /** @param {string} summary */
  done(summary) {
    clearInterval(this.#timer);
    const text = `${summary}  (${seconds(performance.now() - this.#started)})`;
    process.stderr.write(live ? `\r\x1b[2K  ${this.#name.padEnd(NAME_WIDTH)}  ${text}\n` : `${text}\n`);
  }

  failed() {
    clearInterval(this.#timer);
    process.stderr.write(live ? `\r\x1b[2K  ${this.#name.padEnd(NAME_WIDTH)}  failed\n` : 'failed\n');
  }

  #draw() {
    const elapsed = Math.round((performance.now() - this.#started) / 1000);
    const line = `  ${this.#name.padEnd(NAME_WIDTH)}  ${this.#note}${elapsed > 0 ? `  ${elapsed} s` : ''}`;
    process.stderr.write(`\r\x1b[2K${line.slice(0, (process.stderr.columns || 80) - 1)}`);
  }
}

/** @param {string} line */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** @param {number} milliseconds */
export function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
