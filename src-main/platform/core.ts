import type { EventBus } from './event-bus.ts';
import type { Gate } from './gate.ts';
import type { Logger } from './logger.ts';
import type { SettingsService } from './settings-service.ts';

/** Dependencies of nearly every service. */
export interface Core {
  settings: SettingsService;
  events: EventBus;
  gate: Gate;
  log: Logger;
}
