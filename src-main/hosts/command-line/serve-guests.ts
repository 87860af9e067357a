import type { App } from '../../app.ts';
import { GuestHost } from '../guests/guest-host.ts';
import { runCommandLine } from './program.ts';
import { terminalOn } from './terminal.ts';

/** Runs other processes' commands on this data folder with this process's app. undefined if that is impossible. */
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
