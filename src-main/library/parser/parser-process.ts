import type { ChildProcess } from 'node:child_process';
import { KvasirError } from '../../../src-shared/errors.ts';
import { formatBytes } from '../../platform/format-bytes.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import { SerialQueue } from '../../platform/serial-queue.ts';
import type { ParsedDocument } from '../formats/format.ts';
import {
  OUT_OF_MEMORY_MARK,
  type ParseRequest,
  type RecogniseRequest,
  type WorkReply,
  type Works,
} from './protocol.ts';
import { spawnParser, type SpawnParser } from './spawn.ts';

export interface ParserLimits {
  /** Timeout for one document. Large PDFs take seconds; anything that takes minutes hangs. */
  timeoutMs: number;
  /** Memory limit of the parser's process. A PDF of the largest size takes about 400 MB. */
  maxMemoryBytes: number;
  /** An idle process ends after this time, and releases its memory. */
  idleMs: number;
}

const PARSER_LIMITS: ParserLimits = {
  timeoutMs: 120_000,
  maxMemoryBytes: 1024 * 1024 * 1024,
  idleMs: 30_000,
};

/** Of a process that recognises pages. One takes seconds, on a very busy machine a minute; given up, it counts as empty. */
export const PAGE_LIMITS: Partial<ParserLimits> = { timeoutMs: 300_000 };

/** `unchanged`: the file still has the known bytes. */
type ParseOutcome =
  | { kind: 'parsed'; sha256: string; document: ParsedDocument }
  | { kind: 'unchanged'; sha256: string };

export interface Parser {
  /** Reads a file, after earlier requests. Every DOCUMENT_… code; ABORTED. */
  parse(request: Omit<ParseRequest, 'id' | 'work'>, signal?: AbortSignal): Promise<ParseOutcome>;
  /** Recognises a page, after earlier requests. As `parse`. */
  recognise(
    request: Omit<RecogniseRequest, 'id' | 'work'>,
    signal?: AbortSignal,
  ): Promise<Works['recognise']['result']>;
  close(): void;
}

/** Without its number. */
type Request<W extends keyof Works> = Omit<Works[W]['request'], 'id'>;

interface Outcome<W extends keyof Works> {
  text: string;
  result: Works[W]['result'];
}

interface Job {
  id: number;
  name: string;
  text: string[];
  resolve: (result: Works[keyof Works]['result']) => void;
  reject: (error: Error) => void;
}

/** Parses documents in another process, one at a time; restarts it when it has ended. A crash affects only the current document. */
export class ParserProcess implements Parser {
  readonly #limits: ParserLimits;
  readonly #spawn: SpawnParser;
  #child: ChildProcess | undefined;
  #stderr = '';
  readonly #turns = new SerialQueue();
  #job: Job | undefined;
  #lastId = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(limits: Partial<ParserLimits> = {}, spawn: SpawnParser = spawnParser) {
    this.#limits = { ...PARSER_LIMITS, ...limits };
    this.#spawn = spawn;
  }

  async parse(request: Omit<ParseRequest, 'id' | 'work'>, signal?: AbortSignal): Promise<ParseOutcome> {
    const { text, result } = await this.do<'parse'>({ work: 'parse', ...request }, signal);
    const { sha256, document } = result;
    return document
      ? { kind: 'parsed', sha256, document: { text, ...document } }
      : { kind: 'unchanged', sha256 };
  }

  async recognise(
    request: Omit<RecogniseRequest, 'id' | 'work'>,
    signal?: AbortSignal,
  ): Promise<Works['recognise']['result']> {
    return (await this.do<'recognise'>({ work: 'recognise', ...request }, signal)).result;
  }

  /** Does a work in turn; its text, if it has one, and its result. As `parse`. */
  do<W extends keyof Works>(request: Request<W>, signal?: AbortSignal): Promise<Outcome<W>> {
    return this.#turns.run(async () => {
      const fresh = this.#child === undefined;
      try {
        return await this.#do(request, signal);
      } catch (error) {
        // The process may have ended because of leftovers of the previous document.
        if (fresh || !(error instanceof ProcessEndedError)) throw error;
        return await this.#do(request, signal);
      }
    });
  }

  async #do<W extends keyof Works>(request: Request<W>, signal?: AbortSignal): Promise<Outcome<W>> {
    throwIfAborted(signal);
    clearTimeout(this.#idle);
    const child = (this.#child ??= this.#start());
    hold(child, true);
    const { name } = request;
    const timer = setTimeout(() => this.#end(timeout(name, this.#limits.timeoutMs)), this.#limits.timeoutMs);
    const stop = (): void => this.#end(new KvasirError('ABORTED', 'Reading was stopped.'));
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const text: string[] = [];
      const result = await new Promise<Works[W]['result']>((resolve, reject) => {
        const id = ++this.#lastId;
        this.#job = { id, name, text, resolve, reject };
        child.send({ id, ...request }, (error) => {
          if (error) this.#end(crash(name, error.message));
        });
      });
      return { text: text.join(''), result };
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      this.#job = undefined;
      this.#rest();
    }
  }

  close(): void {
    this.#end(new KvasirError('ABORTED', 'Reading was stopped.'));
  }

  #start(): ChildProcess {
    const child = this.#spawn({ maxMemoryBytes: this.#limits.maxMemoryBytes });
    this.#stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (data: string) => {
      this.#stderr = (this.#stderr + data).slice(-4000);
    });
    child.on('message', (reply: WorkReply) => this.#take(reply));
    child.on('error', (error) => this.#onEnd(child, error.message));
    // Not 'exit': its last output has arrived only when its streams are closed.
    child.on('close', (code, signal) => this.#onEnd(child, signal ?? `exit code ${code ?? '?'}`));
    return child;
  }

  #take(reply: WorkReply): void {
    const job = this.#job;
    if (job?.id !== reply.id) return;
    switch (reply.type) {
      case 'text':
        job.text.push(reply.part);
        break;
      case 'done':
        job.resolve(reply.result);
        break;
      case 'failed': {
        const { code, message, advice } = reply.failure;
        job.reject(new KvasirError(code, message, advice));
      }
    }
  }

  #onEnd(child: ChildProcess, how: string): void {
    if (child !== this.#child) return;
    this.#child = undefined;
    const name = this.#job?.name ?? '';
    const memory =
      this.#stderr.includes(OUT_OF_MEMORY_MARK) || /heap out of memory|heap limit/i.test(this.#stderr);
    this.#job?.reject(memory ? outOfMemory(name, this.#limits.maxMemoryBytes) : crash(name, how));
  }

  /** Ends the process and its job. */
  #end(error: Error): void {
    const child = this.#child;
    this.#child = undefined;
    clearTimeout(this.#idle);
    child?.kill('SIGKILL');
    this.#job?.reject(error);
  }

  #rest(): void {
    const child = this.#child;
    if (!child) return;
    hold(child, false);
    this.#idle = setTimeout(() => this.close(), this.#limits.idleMs);
    this.#idle.unref();
  }
}

/** Whether the process keeps this one alive. */
function hold(child: ChildProcess, held: boolean): void {
  for (const part of [child, child.channel, child.stderr as { ref?(): void; unref?(): void } | null]) {
    if (held) part?.ref?.();
    else part?.unref?.();
  }
}

function timeout(name: string, ms: number): KvasirError {
  return new KvasirError(
    'DOCUMENT_TIMEOUT',
    `${name} could not be read within ${Math.round(ms / 1000)} seconds.`,
    'Split it into smaller files, or save it again in the program it was made with.',
  );
}

class ProcessEndedError extends KvasirError {}

function outOfMemory(name: string, bytes: number): KvasirError {
  return new ProcessEndedError(
    'DOCUMENT_MEMORY',
    `${name} needs more than ${formatBytes(bytes)} of memory to be read.`,
    'Split it into smaller files.',
  );
}

function crash(name: string, how: string): KvasirError {
  return new ProcessEndedError(
    'DOCUMENT_UNREADABLE',
    `It cannot be read: Kvasir’s document reader crashed (${how}). The file is ${name}.`,
    'Save the document again in the program it was made with, or in another format.',
  );
}
