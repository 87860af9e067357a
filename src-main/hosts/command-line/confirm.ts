import { createInterface } from 'node:readline';
import { KvasirError } from '../../../src-shared/errors.ts';
import { throwIfAborted } from '../../platform/abort.ts';
import type { CommandContext } from './context.ts';

/**
 * Asks the person at the terminal whether a command may lose something. BAD_ARGUMENT if they do not agree, or if there
 * is no terminal: then `otherwise` says what to do. ABORTED.
 */
export async function requireConfirmed(
  { stdin, terminal, signal }: Pick<CommandContext, 'stdin' | 'terminal' | 'signal'>,
  { consequence, otherwise }: { consequence: string; otherwise: string },
): Promise<void> {
  if (stdin.isTTY !== true) throw new KvasirError('BAD_ARGUMENT', consequence, otherwise);
  terminal.err(`${consequence} Continue? [y/N]`);
  const lines = createInterface({ input: stdin, signal });
  const { value = '' } = (await lines[Symbol.asyncIterator]().next()) as { value?: string };
  lines.close();
  throwIfAborted(signal);
  if (!/^y(es)?$/i.test(value.trim())) throw new KvasirError('ABORTED', 'Nothing was removed.');
}
