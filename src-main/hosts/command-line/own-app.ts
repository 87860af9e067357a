import { once } from 'node:events';
import type { Failure } from '../../../src-shared/contract/common.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { App } from '../../app.ts';
import { logDefects } from '../../platform/defects.ts';
import { defaultDataDir } from '../../platform/paths.ts';
import type { SharingService } from '../../sharing/sharing-service.ts';
import type { GuestHost } from '../guests/guest-host.ts';
import type { CommandContext } from './context.ts';
import { FolderInUse } from './failure.ts';
import { serveGuests } from './serve-guests.ts';

/**
 * Time in milliseconds that a start waits for a database in use by another program; each attempt to open it waits for
 * seconds.
 */
const HELD_MS = 60_000;

type CommandCaller = Pick<CommandContext, 'terminal' | 'signal'>;

/**
 * Runs work with Kvasir in this process, which meanwhile runs other processes' commands on the same data folder and
 * stays until they are done. Prints findings of the start, e.g. damaged data that was set aside, and later notices.
 * Errors as App.open; FolderInUse.
 */
export async function withOwnApp(
  asker: CommandCaller,
  dataDir: string | undefined,
  work: (app: App) => Promise<void>,
): Promise<void> {
  const app = await open(dataDir ?? defaultDataDir(), asker);
  const endLogging = logDefects(app.log);
  const note = ({ message, advice }: Failure): void => asker.terminal.err(`Note: ${message} ${advice}`);
  app.found.forEach(note); // and left there: a window may open later and show it
  app.events.on(({ topic, payload }) => {
    if (topic === 'app.notice') note(payload.failure);
  });
  let guests: GuestHost | undefined;
  try {
    guests = await serveGuests(app);
    await work(app);
  } finally {
    await seeOff(guests, app.sharing, asker);
    await app.close();
    endLogging();
  }
}

/** Waits while another program uses a database, and prints a note once. */
async function open(dataDir: string, { terminal, signal }: CommandCaller): Promise<App> {
  const until = performance.now() + HELD_MS;
  for (let told = false; ; told = true) {
    try {
      return await App.open({ dataDir });
    } catch (error) {
      if (!(error instanceof KvasirError)) throw error;
      if (error.code === 'STORE_IN_USE') throw new FolderInUse(dataDir, error);
      if (error.code !== 'DATABASE_HELD' || signal.aborted || performance.now() > until) throw error;
      if (!told) terminal.err(`Note: ${error.message} Waiting up to a minute for it. Ctrl-C stops waiting.`);
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
