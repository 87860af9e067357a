import { PassThrough, Readable } from 'node:stream';
import { programVersion } from '../../platform/root.ts';
import { handOver } from '../guests/hand-over.ts';

/** The window of the process that owns the data folder, to be shown here. */
export interface OwnersWindow {
  /** Lets one page in, once. */
  address: string;
  /** Resolves when the owner does not serve it any more. */
  ended: Promise<void>;
}

/** As `serve` prints it (hosts/command-line/commands/serve/). */
const ADDRESS = /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+$/m;

/** Asks the owner of a data folder to serve its window for as long as this process is there; undefined: nobody does. */
export async function askOwner(dataDir: string): Promise<OwnersWindow | undefined> {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const address = new Promise<string>((resolve) => {
    let printed = '';
    stdout.on('data', (text: string) => {
      printed += text;
      const [found] = ADDRESS.exec(printed) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const ended = handOver(dataDir, programVersion(), {
    argv: [process.execPath, 'kvasir', 'serve', '--no-open'],
    cwd: process.cwd(),
    color: false,
    display: false,
    stdin: Readable.from([]),
    stdout,
    stderr: new PassThrough().resume(),
    signal: new AbortController().signal,
  }).then(
    () => undefined,
    () => undefined, // it was lost: whoever waits takes the folder over, or is told why not
  );
  const served = await Promise.race([address, ended]);
  return served === undefined ? undefined : { address: served, ended };
}
