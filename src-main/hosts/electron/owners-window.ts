import { programVersion } from '../../platform/root.ts';
import { connectOwner } from '../client/connect.ts';

/** The window of the process that owns the data folder, to be shown here. */
interface OwnersWindow {
  /** A one-time URL for one page. */
  address: string;
  /** Resolves when the owner stops serving it. */
  ended: Promise<void>;
}

/** Asks the owner of a data folder to serve its window for the lifetime of this process; undefined: no owner does. */
export async function askOwner(dataDir: string): Promise<OwnersWindow | undefined> {
  const client = await connectOwner(dataDir, programVersion());
  try {
    const served = await client?.call('command.window', { port: 0 });
    return client && served && { ...served, ended: client.lost.catch(() => undefined) };
  } catch {
    await client?.close().catch(() => undefined); // the waiting caller takes the folder over, or gets the error
    return undefined;
  }
}
