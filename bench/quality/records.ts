import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import type { ScoreName } from './scores.ts';

/** Outcome of one question by one method. */
export interface Measurement {
  scores: Partial<Record<ScoreName, number>>;
  fact: number | null;
  /** KL divergence at each position along the full prefill's answer. */
  kl: number[];
  agrees: boolean[];
  ms: number;
  /** Time relative to the full prefill. */
  ofFull: number;
  computed: number;
}

/** Outcomes of one question by method label. */
export interface QuestionRecord {
  index: number;
  kind: string;
  given: Record<string, Measurement>;
}

const HeadSchema = z.object({ about: z.string() });

/**
 * Measurements so far, one line per question, in a temporary file next to the result until the result is written. An interrupted bench
 * resumes from it with `resume` if nothing that it depends on has changed; otherwise it throws a TypeError and keeps the records.
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

  /** Records of one run, identified by everything that it depends on. */
  of(run: string): readonly QuestionRecord[] {
    return this.#known.get(run) ?? [];
  }

  add(run: string, record: QuestionRecord): void {
    if (this.#path !== undefined) appendFileSync(this.#path, `${JSON.stringify({ run, record })}\n`);
  }

  /** The result is written: deletes the records. */
  end(): void {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
  }

  #read(path: string, head: string): void {
    const [first = '', ...lines] = readFileSync(path, 'utf8').split('\n');
    if (first === '') return;
    const { about } = HeadSchema.parse(JSON.parse(first));
    if (about !== HeadSchema.parse(JSON.parse(head)).about)
      throw new TypeError(
        `${path} was measured with ${about}, which differs from the current options. Move the file away, or omit --resume.`,
      );
    for (const line of lines) {
      // The last line may be truncated.
      if (!line.endsWith('}}')) continue;
      const { run, record } = JSON.parse(line) as { run: string; record: QuestionRecord };
      this.#known.set(run, [...this.of(run), record]);
    }
  }
}
