import type { Core } from '../platform/core.ts';
import { throttled, type EventBus } from '../platform/event-bus.ts';
import { timedWork } from '../platform/timed-work.ts';
import type { QueueStatus } from '../../src-shared/contract/libraries.ts';

const STATUS_MS = 200;
const CHANGED_MS = 500;

type ThrottledCall = ReturnType<typeof throttled>;

/** Events about libraries for windows, throttled to what they can show. */
export class LibraryEvents {
  readonly #events: EventBus;
  readonly #status: ThrottledCall;
  readonly #changed = new Map<number, ThrottledCall>();

  /** `status` reads the catalogue. */
  constructor(core: Pick<Core, 'events' | 'log'>, status: () => QueueStatus) {
    this.#events = core.events;
    const tell = timedWork(core, () => core.events.emit('queue.status', status()));
    this.#status = throttled(STATUS_MS, tell);
  }

  status(): void {
    this.#status();
  }

  /** A library, its documents or chunks changed; without an id, the list of libraries. */
  changed(libraryId = 0): void {
    let emit = this.#changed.get(libraryId);
    if (!emit) {
      const payload = libraryId === 0 ? {} : { libraryId: String(libraryId) };
      emit = throttled(CHANGED_MS, () => this.#events.emit('library.changed', payload));
      this.#changed.set(libraryId, emit);
    }
    emit();
  }

  close(): void {
    for (const each of [this.#status, ...this.#changed.values()]) each.cancel();
  }
}
