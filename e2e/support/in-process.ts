import { PassThrough } from 'node:stream';
import type { CoreClient } from '../../src-main/hosts/client/client.ts';
import { connectOwner } from '../../src-main/hosts/client/connect.ts';
import { runCommandLine } from '../../src-main/hosts/command-line/program.ts';
import { terminalOn } from '../../src-main/hosts/command-line/terminal.ts';
import { withClient } from '../../src-main/hosts/command-line/with-client.ts';
import { programVersion } from '../../src-main/platform/root.ts';
import { ROOT, type CliResult } from '../cli-support.ts';

interface Options {
  cwd?: string;
  signal?: AbortSignal;
  stdin?: PassThrough & { isTTY?: boolean };
  /** Called with all of stdout so far. */
  onOutput?: (stdout: string) => void;
}
type Caller = Parameters<typeof withClient>[0];
type Work = (client: CoreClient) => Promise<void>;

/** Runs a command line as the program does, without a process: starting one takes longer than most commands. */
export function runHere(args: readonly string[], options: Options = {}): Promise<CliResult> {
  return run(args, options, withClient);
}

/** Runs a command line as a client of the owner of a data folder, without a separate process. */
export function runAsGuest(data: string, args: readonly string[], options: Options = {}): Promise<CliResult> {
  return run(args, options, async (_caller, _data, work) => {
    const client = await connectOwner(data, programVersion());
    if (!client) throw new Error('no owner accepted the command');
    await client.use(work);
  });
}

async function run(
  args: readonly string[],
  {
    cwd = ROOT,
    signal = new AbortController().signal,
    stdin = new PassThrough().end(),
    onOutput = () => undefined,
  }: Options,
  withCore: (caller: Caller, data: string | undefined, work: Work) => Promise<void>,
): Promise<CliResult> {
  const collect = (): { stream: PassThrough; text: () => string } => {
    let text = '';
    const stream = new PassThrough({ encoding: 'utf8' }).on('data', (part: string) => (text += part));
    return { stream, text: () => text };
  };
  const [out, err] = [collect(), collect()];
  out.stream.on('data', () => onOutput(out.text()));
  const caller = { terminal: terminalOn(out.stream, err.stream, false), signal };
  const code = await runCommandLine(['node', 'kvasir', ...args], {
    ...caller,
    stdin,
    stdout: out.stream,
    cwd,
    display: false,
    withClient: (dataDir, work) => withCore(caller, dataDir, work),
  });
  return { code, stdout: out.text(), stderr: err.text() };
}
