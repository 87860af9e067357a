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

type Asker = Pick<CommandContext, 'terminal' | 'signal'>;

/**
 * Does something with a Kvasir of this process, which meanwhile runs the commands of others on the same data folder, and stays until they
 * have left. Says what the start found, e.g. data that was damaged and set aside, and what is noticed later. As App.open; FolderInUse.
 */
export async function withOwnApp(
  asker: Asker,
  dataDir: string | undefined,
  work: (app: App) => Promise<void>,
): Promise<void> {
  const app = await open(dataDir ?? defaultDataDir());
  const endLogging = logDefects(app.log);
  const note = ({ message, advice }: Failure): void => asker.terminal.err(`Note: ${message} ${advice}`);
  app.found.forEach(note); // and left there: a window may come, and is where people look
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

async function open(dataDir: string): Promise<App> {
  try {
    return await App.open({ dataDir });
  } catch (error) {
    if (error instanceof KvasirError && error.code === 'STORE_IN_USE') throw new FolderInUse(dataDir, error);
    throw error;
  }
}

/**
 * Waits for the commands of others, and until what was computed here has arrived where others look for it. Whoever comes meanwhile is
 * still taken: the folder is held for as long as that takes. Ctrl-C ends all of it.
 */
export async function seeOff(
  guests: GuestHost | undefined,
  sharing: Pick<SharingService, 'sent'>,
  { terminal, signal }: Asker,
): Promise<void> {
  const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  do {
    if (guests && guests.guests > 0 && !signal.aborted) {
      terminal.err(
        'Done, but other commands on this data folder run here: waiting for them. Ctrl-C ends them.',
      );
      await Promise.race([guests.idle(), stopped]);
    }
    await sharing.sent(signal);
  } while (guests && guests.guests > 0 && !signal.aborted);
  await guests?.close();
}
