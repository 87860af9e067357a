import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { ScoreName } from './scores.ts';

/** What one question came to by one method. */
export interface Measurement {
  scores: Partial<Record<ScoreName, number>>;
  fact: number | null;
  /** Place by place along the full prefill's answer. */
  kl: number[];
  agrees: boolean[];
  ms: number;
  /** Of the full prefill's time. */
  ofFull: number;
  computed: number;
}

/** One question by every method, by the method's label. */
export interface QuestionRecord {
  index: number;
  kind: string;
  given: Record<string, Measurement>;
}

const HeadSchema = z.object({ about: z.string() });

/**
 * What was measured so far, a line a question, beside the result's file until that is written: a bench that was stopped goes on from it
 * where `resume` is asked for and nothing it depends on has changed. TypeError where that has: the records stay.
 */
export class Records {
  readonly #path: string | undefined;
  readonly #known = new Map<string, QuestionRecord[]>();

  constructor(out: string | undefined, about: unknown, resume: boolean) {
    this.#path = out === undefined ? undefined : `${out}.tmp`;
    if (this.#path === undefined) return;
    const head = JSON.stringify({ about: JSON.stringify(about) });
    if (resume && existsSync(this.#path)) this.#read(this.#path, head);
    if (this.#known.size > 0) return;
    mkdirSync(dirname(this.#path), { recursive: true });
    writeFileSync(this.#path, `${head}\n`);
  }

  /** Of one run, by everything it depends on. */
  of(run: string): readonly QuestionRecord[] {
    return this.#known.get(run) ?? [];
  }

  add(run: string, record: QuestionRecord): void {
    if (this.#path !== undefined) appendFileSync(this.#path, `${JSON.stringify({ run, record })}\n`);
  }

  /** The result is written: nothing is left to go on from. */
  end(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }

  #read(path: string, head: string): void {
    const [first = '', ...lines] = readFileSync(path, 'utf8').split('\n');
    if (first === '') return;
    const { about } = HeadSchema.parse(JSON.parse(first));
    if (about !== HeadSchema.parse(JSON.parse(head)).about)
      throw new TypeError(
        `${path} was measured with ${about}, which is not what is asked for now. Move it away, or leave --resume out.`,
      );
    for (const line of lines) {
      // The last one may have been cut off.
      if (!line.endsWith('}}')) continue;
      const { run, record } = JSON.parse(line) as { run: string; record: QuestionRecord };
      this.#known.set(run, [...this.of(run), record]);
    }
  }
}
