import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure } from '../../../src-shared/contract/common.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { App } from '../../app.ts';
import { logDefects } from '../../platform/defects.ts';
import { defaultDataDir } from '../../platform/paths.ts';
import { programVersion } from '../../platform/root.ts';
import type { SharingService } from '../../sharing/sharing-service.ts';
import { CoreClient } from '../client/client.ts';
import { connectOwner } from '../client/connect.ts';
import type { GuestHost } from '../client/guest-host.ts';
import { ownerFailure } from '../client/host-file.ts';
import { serveGuests } from '../client/serve-guests.ts';
import { localClient } from '../client/session.ts';
import type { CommandContext } from './context.ts';

/**
 * Time in milliseconds that a start waits for a database in use by another program; each attempt to open it waits for
 * seconds.
 */
const HELD_MS = 60_000;
/** Time in milliseconds for an owner of the data folder to start or to end before the command gives up. */
const PATIENCE_MS = 5000;
const RETRY_MS = 100;

type CommandCaller = Pick<CommandContext, 'terminal' | 'signal'>;

/**
 * Runs work of a client of the process that owns the data folder: another one, or else this one, which meanwhile serves
 * other processes' commands and stays until they are done. It prints findings of its start, e.g. damaged data that was
 * set aside, and later notices. Errors as App.open; CONNECTION_LOST.
 */
export async function withClient(
  caller: CommandCaller,
  dataDir: string | undefined,
  work: (client: CoreClient) => Promise<void>,
): Promise<void> {
  const app = await open(dataDir ?? defaultDataDir(), caller);
  if (app instanceof CoreClient) return app.use(work);
  const endLogging = logDefects(app.log);
  const note = ({ message, advice }: Failure): void => caller.terminal.err(`Note: ${message} ${advice}`);
  app.found.forEach(note); // and left there: a window may open later and show it
  app.events.on(({ topic, payload }) => {
    if (topic === 'app.notice') note(payload.failure);
  });
  let guests: GuestHost | undefined;
  try {
    guests = await serveGuests(app);
    await localClient(app).use(work);
  } finally {
    await seeOff(guests, app.sharing, caller);
    await app.close();
    endLogging();
  }
}

/** The app, or a client of the folder's owner. While another program uses a database, waits and prints a note once. */
async function open(dataDir: string, { terminal, signal }: CommandCaller): Promise<App | CoreClient> {
  const start = performance.now();
  const gaveUp = (ms: number): boolean => signal.aborted || performance.now() > start + ms;
  for (let told = false; ;) {
    try {
      return await App.open({ dataDir });
    } catch (error) {
      if (!(error instanceof KvasirError)) throw error;
      if (error.code === 'STORE_IN_USE') {
        const client = await connectOwner(dataDir, programVersion(), { signal });
        if (client) return client;
        if (gaveUp(PATIENCE_MS)) throw ownerFailure(dataDir, programVersion(), error);
        await sleep(RETRY_MS);
        continue;
      }
      if (error.code !== 'DATABASE_HELD' || gaveUp(HELD_MS)) throw error;
      if (!told) terminal.err(`Note: ${error.message} Waiting up to a minute for it. Ctrl-C stops waiting.`);
      told = true;
    }
  }
}

/**
 * Waits for other processes' commands, and until pending writes to the shared cache have arrived. New commands are
 * still accepted: the folder stays locked for that time. Ctrl-C ends all of it.
 */
export async function seeOff(
  guests: GuestHost | undefined,
  sharing: Pick<SharingService, 'sent'>,
  { terminal, signal }: CommandCaller,
): Promise<void> {
  const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  do {
    if (guests && guests.guests > 0 && !signal.aborted) {
      terminal.err('Finished; waiting for other commands that use this process. Ctrl-C ends them.');
      await Promise.race([guests.idle(), stopped]);
    }
    await sharing.sent(signal);
  } while (guests && guests.guests > 0 && !signal.aborted);
  await guests?.close();
}
