import type { Handlers } from '../../../src-shared/contract/contract.ts';
import { createApi, type Api } from '../../api/api.ts';
import { createHandlers, createProfileHandlers } from '../../api/handlers.ts';
import type { App } from '../../app.ts';
import { Disposables } from '../../platform/disposables.ts';
import { EventBus } from '../../platform/event-bus.ts';
import { traceOf } from '../../platform/failure.ts';
import { Profile } from '../../profile.ts';
import { CoreClient } from './client.ts';
import { serverHandlers, type Opener } from './servers.ts';

/** One client of a command, at the core. */
interface CommandSession {
  api: Api;
  /** For this client: the app's or its profile's, and its MCP server's messages. */
  events: EventBus;
  /** Stops what the client began, and closes what it opened. */
  close(): Promise<void>;
}

const HOST = { kind: 'server' } as const;

export function openSession(app: App): CommandSession {
  const events = new EventBus((error) => app.log.error('listener-failed', { error: traceOf(error) }));
  const forward = (source: EventBus): (() => void) =>
    source.on(({ topic, payload }) => events.emit(topic, payload));
  const opened = new Disposables(app.log);
  const open: Opener = (opening) => {
    opened.add({ close: async () => (await opening.catch(() => undefined))?.close() });
    return opening;
  };
  let endEvents = forward(app.events);
  opened.add({ close: () => endEvents() });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= opened.close());
  const handlers: Handlers = {
    ...createHandlers(app, HOST),
    ...serverHandlers(app, events, open),
    'command.profile': async (input) => {
      const profile = await open(Profile.open(app, input));
      Object.assign(handlers, createProfileHandlers(app, HOST, profile));
      endEvents();
      endEvents = forward(profile.events);
      opened.add({ close: () => handlers['libraries.stopReading']({}) }); // before the profile, which it uses
    },
    'command.close': close,
  };
  opened.add({ close: () => handlers['cache.stopArchive']({}) });
  return { api: createApi(handlers, app.log), events, close };
}

export function localClient(app: App): CoreClient {
  const { api, events } = openSession(app);
  return new CoreClient({ ...api, onEvent: (listener) => events.on(listener) });
}
