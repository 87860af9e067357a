import type { Writable } from 'node:stream';
import { SingleBar, Presets } from 'cli-progress';
import type { LibraryProgress } from '../../../src-shared/library.ts';

/** Output of a command. Results go to stdout; progress, notices and errors go to stderr. */
export interface Terminal {
  out(text: string): void;
  err(line: string): void;
  /** Columns of stdout; a pipe gets a fixed width so that its output does not depend on the window. */
  readonly width: number;
  bold(text: string): string;
  progress(): ProgressDisplay;
}

/** A stream that a command writes to. */
export type OutputStream = Writable & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

interface ProgressDisplay {
  update: (progress: LibraryProgress) => void;
  stop: () => void;
}

const PIPE_WIDTH = 120;
/** Minimum time in milliseconds between progress lines to a pipe. */
const LINE_EVERY_MS = 2000;

/** Node leaves the property undefined if there is no terminal. */
const isTerminal = ({ isTTY }: OutputStream): boolean => isTTY === true;

/** Whether this process's stdout shows colours. */
export function showsColor(env: NodeJS.ProcessEnv = process.env): boolean {
  return isTerminal(process.stdout) && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

export function terminalOn(stdout: OutputStream, stderr: OutputStream, color: boolean): Terminal {
  return {
    out: (text) => void stdout.write(text),
    err: (line) => void stderr.write(`${line}\n`),
    width: (stdout.isTTY && stdout.columns) || PIPE_WIDTH,
    bold: (text) => (color ? `\x1b[1m${text}\x1b[22m` : text),
    progress: () => (stderr.isTTY ? barProgress(stderr) : lineProgress((line) => stderr.write(`${line}\n`))),
  };
}

function barProgress(stream: OutputStream): ProgressDisplay {
  const bar = new SingleBar(
    {
      format: '  {phase} [{bar}] {value}/{total}{left}',
      stream,
      hideCursor: true,
      clearOnComplete: true,
      barsize: 32,
      gracefulExit: false, // the caller that shows the bar stops it, also on an interrupt
    },
    Presets.rect,
  );
  let phase = '';
  return {
    update: (progress) => {
      const payload = { phase: progress.phase, left: timeLeft(progress) };
      if (progress.total === 0) return;
      if (phase !== progress.phase) {
        if (phase !== '') bar.stop();
        bar.start(progress.total, progress.done, payload);
        phase = progress.phase;
      } else bar.update(progress.done, payload);
    },
    stop: () => {
      if (phase !== '') bar.stop();
      phase = '';
    },
  };
}

function lineProgress(write: (line: string) => void): ProgressDisplay {
  let last = performance.now();
  return {
    update: (progress) => {
      const now = performance.now();
      const worthALine =
        (progress.phase === 'precomputing' || progress.phase === 'measuring') &&
        progress.total > 0 &&
        now - last >= LINE_EVERY_MS;
      if (!worthALine) return;
      last = now;
      write(`  ${progress.phase} ${progress.done}/${progress.total}${timeLeft(progress)}`);
    },
    stop: () => {},
  };
}

function timeLeft({ secondsLeft }: LibraryProgress): string {
  if (secondsLeft === undefined || secondsLeft < 1) return '';
  if (secondsLeft < 90) return `, about ${Math.ceil(secondsLeft)} s left`;
  return `, about ${Math.ceil(secondsLeft / 60)} min left`;
}
