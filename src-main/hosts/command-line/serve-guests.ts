import type { App } from '../../app.ts';
import { GuestHost } from '../guests/guest-host.ts';
import { runCommandLine } from './program.ts';
import { terminalOn } from './terminal.ts';

/** Runs the commands of other processes on this data folder, with what is open here. undefined where that cannot be. */
export function serveGuests(app: App): Promise<GuestHost | undefined> {
  const { version, log, paths } = app;
  return GuestHost.open(paths.data, {
    version,
    log,
    run: (guest) =>
      runCommandLine(guest.argv, {
        ...guest,
        terminal: terminalOn(guest.stdout, guest.stderr, guest.color),
        withApp: (_, work) => work(app),
      }),
  });
}
