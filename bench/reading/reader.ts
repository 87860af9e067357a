import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';
import type { ParsedDocument } from '../../src-main/library/formats/format.ts';
import type * as parserProcess from '../../src-main/library/parser/parser-process.ts';
import type * as spawn from '../../src-main/library/parser/spawn.ts';
import type { KvasirError } from '../../src-shared/errors.ts';

type Modules = typeof parserProcess & typeof spawn;

export interface Reading {
  /** Without it the file was refused. */
  document?: ParsedDocument;
  /** Error code and message of a refusal. */
  refusal?: { code: string; message: string };
  /** Wall-clock time. */
  ms: number;
  /** CPU time and peak RSS of the parser's process; undefined without /proc, or if the process ended. */
  cpuMs?: number | undefined;
  peakMiB?: number | undefined;
}

const MAX_BYTES = 512 * 1024 * 1024;
/** The readers of a checkout of Kvasir, in its own parser process. */
export class CheckoutReader {
  readonly #parser: InstanceType<Modules['ParserProcess']>;
  #child: ChildProcess | undefined;

  private constructor({ ParserProcess, spawnParser }: Modules) {
    this.#parser = new ParserProcess({}, (options) => (this.#child = spawnParser(options)));
  }

  static async open(root: string): Promise<CheckoutReader> {
    const load = (name: string): Promise<object> =>
      import(pathToFileURL(join(root, `src-main/library/parser/${name}.ts`)).href) as Promise<object>;
    return new CheckoutReader(
      Object.assign({}, await load('parser-process'), await load('spawn')) as Modules,
    );
  }

  async read(path: string, name: string): Promise<Reading> {
    const format = extname(path).slice(1).toLowerCase();
    this.#resetPeak();
    const cpu = this.#cpuMs();
    const start = performance.now();
    const rest = await this.#parser
      .parse({ path, name, format, maxBytes: MAX_BYTES, knownSha256: undefined })
      .then(
        (outcome) => (outcome.kind === 'parsed' ? { document: outcome.document } : {}),
        (error: unknown) => ({ refusal: refusalOf(error) }),
      );
    const ms = performance.now() - start;
    const cpuNow = this.#cpuMs();
    return {
      ...rest,
      ms,
      cpuMs: cpu === undefined || cpuNow === undefined ? undefined : cpuNow - cpu,
      peakMiB: this.#peakMiB(),
    };
  }

  close(): void {
    this.#parser.close();
  }

  #proc(file: string): string | undefined {
    try {
      return readFileSync(`/proc/${this.#child?.pid}/${file}`, 'utf8');
    } catch {
      return undefined;
    }
  }

  /** The kernel keeps the peak of a process's life, unless told to begin again (proc(5), clear_refs). */
  #resetPeak(): void {
    try {
      writeFileSync(`/proc/${this.#child?.pid}/clear_refs`, '5');
    } catch {
      // There is no process yet, or no /proc.
    }
  }

  #peakMiB(): number | undefined {
    const kib = /VmHWM:\s*(\d+)/.exec(this.#proc('status') ?? '')?.[1];
    return kib === undefined ? undefined : Number(kib) / 1024;
  }

  /** Of all threads (proc(5), schedstat: the first number is nanoseconds). */
  #cpuMs(): number | undefined {
    try {
      const threads = readdirSync(`/proc/${this.#child?.pid}/task`);
      const ns = threads.map((thread) => Number(this.#proc(`task/${thread}/schedstat`)?.split(' ')[0] ?? 0));
      return ns.reduce((sum, each) => sum + each, 0) / 1e6;
    } catch {
      return undefined;
    }
  }
}

function refusalOf(error: unknown): { code: string; message: string } {
  // Another checkout has a class of errors of its own.
  const { code = 'INTERNAL', message } = error as Partial<KvasirError> & Error;
  return { code, message };
}
