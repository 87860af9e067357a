import { KvasirError } from '../../../src-shared/errors.ts';
import { traceOf } from '../../platform/failure.ts';

export const EXIT = { ok: 0, failure: 1, usage: 2, interrupted: 130 } as const;

/** One sentence with what happened and why, a line of advice if there is any, and the exit status. */
export function describeFailure(error: unknown, debug: boolean): { lines: string[]; exitCode: number } {
  const lines: string[] = [];
  if (error instanceof KvasirError) {
    lines.push(error.code === 'ABORTED' ? 'Interrupted.' : `Error: ${error.message} [${error.code}]`);
    if (error.advice !== '') lines.push(error.advice);
  } else {
    lines.push(`Error: ${error instanceof Error ? error.message : String(error)}`);
    lines.push(
      'This is a defect in Kvasir: please report it with the output of the same command with --debug.',
    );
  }
  if (debug && error instanceof Error) lines.push(...stacks(error));
  return { lines, exitCode: exitCodeOf(error) };
}

function exitCodeOf(error: unknown): number {
  if (!(error instanceof KvasirError)) return EXIT.failure;
  if (error.code === 'ABORTED') return EXIT.interrupted;
  return error.code === 'BAD_ARGUMENT' ? EXIT.usage : EXIT.failure;
}

function stacks(error: Error): string[] {
  const cause = error.cause instanceof Error ? ['caused by:', ...stacks(error.cause)] : [];
  return [traceOf(error), ...cause];
}
