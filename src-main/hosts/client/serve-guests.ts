import { once } from 'node:events';
import type { App } from '../../app.ts';
import { ContractSocket } from '../window/contract-socket.ts';
import { GuestHost } from './guest-host.ts';
import { openSession } from './session.ts';

/** Serves other processes' commands on this data folder. undefined if that is impossible. */
export function serveGuests(app: App): Promise<GuestHost | undefined> {
  const { version, log, paths } = app;
  return GuestHost.open(paths.data, {
    version,
    log,
    serve: async (socket) => {
      const session = openSession(app);
      const guest = new ContractSocket(socket, session.api);
      session.events.on((event) => guest.tell(event));
      await once(socket, 'close');
      await session.close();
    },
  });
}
