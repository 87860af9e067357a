import { PassThrough } from 'node:stream';
import { connectOwner } from '../../src-main/hosts/client/connect.ts';
import { runCommandLine } from '../../src-main/hosts/command-line/program.ts';
import { terminalOn } from '../../src-main/hosts/command-line/terminal.ts';
import { programVersion } from '../../src-main/platform/root.ts';
import { ROOT, type CliResult } from '../cli-support.ts';

/** Runs a command line as a client of the owner of a data folder, without a separate process. */
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
  const code = await runCommandLine(['node', 'kvasir', ...args], {
    terminal: terminalOn(out.stream, err.stream, false),
    stdin: new PassThrough(),
    stdout: out.stream,
    cwd,
    signal,
    display: false,
    withClient: async (_, work) => {
      const client = await connectOwner(data, programVersion());
      if (!client) throw new Error('no owner accepted the command');
      await client.use(work);
    },
  });
  return { code, stdout: out.text(), stderr: err.text() };
}
