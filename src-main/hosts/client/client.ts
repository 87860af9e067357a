import { ContractClient } from '../../../src-shared/contract/client.ts';
import type { ProfileInput } from '../../../src-shared/contract/profile.ts';
import { createApi, type Api } from '../../api/api.ts';
import { createHandlers, createProfileHandlers } from '../../api/handlers.ts';
import type { App } from '../../app.ts';
import type { EventBus } from '../../platform/event-bus.ts';
import { Profile } from '../../profile.ts';

/** A client of the core in this process. */
export class CoreClient extends ContractClient {
  readonly #close: () => Promise<void>;

  constructor(api: Api, events: Pick<EventBus, 'on'>, profile?: Profile) {
    let end = (): void => undefined;
    super({
      call: (name, input) => api.call(name, input),
      onEvent: (listener) => (end = events.on(listener)),
    });
    this.#close = async () => {
      end();
      await profile?.close();
    };
  }

  /** REQUIRES: its calls have ended. */
  close(): Promise<void> {
    return this.#close();
  }
}

/** With a profile, the client has its own model and settings. Errors as Profile.open(). */
export async function clientOf(app: App, input?: ProfileInput): Promise<CoreClient> {
  const profile = input && (await Profile.open(app, input));
  const host = { kind: 'server' } as const;
  const handlers = profile ? createProfileHandlers(app, host, profile) : createHandlers(app, host);
  return new CoreClient(createApi(handlers, app.log), (profile ?? app).events, profile);
}
