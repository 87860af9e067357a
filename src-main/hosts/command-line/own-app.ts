import { once } from 'node:events';
import type { Failure } from '../../../src-shared/contract/common.ts';
import { KvasirError } from '../../../src-shared/errors.ts';
import { App } from '../../app.ts';
import { logDefects } from '../../platform/defects.ts';
import { defaultDataDir } from '../../platform/paths.ts';
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
    await seeOff(guests, asker);
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

/** Waits for the commands of others; Ctrl-C ends them. */
async function seeOff(guests: GuestHost | undefined, { terminal, signal }: Asker): Promise<void> {
  if (!guests) return;
  if (guests.guests > 0 && !signal.aborted) {
    terminal.err(
      'Done, but other commands on this data folder run here: waiting for them. Ctrl-C ends them.',
    );
    const stopped = once(signal, 'abort');
    await Promise.race([guests.idle(), stopped]);
  }
  await guests.close();
}
