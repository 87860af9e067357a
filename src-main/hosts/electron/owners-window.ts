import { PassThrough, Readable } from 'node:stream';
import { programVersion } from '../../platform/root.ts';
import { handOver } from '../guests/hand-over.ts';

/** The window of the process that owns the data folder, to be shown here. */
export interface OwnersWindow {
  /** A one-time URL for one page. */
  address: string;
  /** Resolves when the owner stops serving it. */
  ended: Promise<void>;
}

/** As printed by `serve` (hosts/command-line/commands/serve/). */
const ADDRESS = /^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+$/m;

/** Asks the owner of a data folder to serve its window for the lifetime of this process; undefined: no owner does. */
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
    () => undefined, // connection lost: the waiting caller takes the folder over, or gets the error
  );
  const served = await Promise.race([address, ended]);
  return served === undefined ? undefined : { address: served, ended };
}
