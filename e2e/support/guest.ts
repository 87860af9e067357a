import { PassThrough } from 'node:stream';
import { handOver } from '../../src-main/hosts/guests/hand-over.ts';
import { programVersion } from '../../src-main/platform/root.ts';
import { ROOT, type CliResult } from '../cli-support.ts';

/** Hands a command line to the owner of a data folder, without a separate process. */
export async function runAsGuest(
  data: string,
  args: readonly string[],
  { cwd = ROOT, signal = new AbortController().signal } = {},
): Promise<CliResult> {
  const collect = (): { stream: PassThrough; text: () => string } => {
    let text = '';
    const stream = new PassThrough({ encoding: 'utf8' }).on('data', (part: string) => (text += part));
    return { stream, text: () => text };
  };
  const [out, err] = [collect(), collect()];
  const code = await handOver(data, programVersion(), {
    argv: ['node', 'kvasir', ...args, '--data', data],
    cwd,
    signal,
    color: false,
    display: false,
    stdin: new PassThrough(),
    stdout: out.stream,
    stderr: err.stream,
  });
  if (code === undefined) throw new Error('no owner accepted the command');
  return { code, stdout: out.text(), stderr: err.text() };
}
