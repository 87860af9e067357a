import type { EventTopic, KvasirEvent } from '../../../src-shared/contract/events.ts';

/** The part of a WebSocket that is used for events. */
interface EventSocket {
  /** Bytes queued but not yet sent. */
  readonly bufferedAmount: number;
  send(text: string, sent: () => void): void;
}

/** Above this, events wait here, where they can be merged, and not in the socket. */
const HIGH_WATER_BYTES = 256 * 1024;

/**
 * Events for one window. If the window is slow, only the newest event of a state is kept, and text is joined; nothing
 * is dropped that cannot be requested again.
 */
export class Outbox {
  readonly #wire: EventSocket;
  readonly #waiting: KvasirEvent[] = [];

  constructor(wire: EventSocket) {
    this.#wire = wire;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  push(event: KvasirEvent): void {
    if (this.#waiting.length === 0 && !this.#isFull()) this.#send(event);
    else this.#wait(event);
  }

  /** Sends waiting events, as far as the wire accepts them. */
  flush(): void {
    while (!this.#isFull()) {
      const event = this.#waiting.shift();
      if (!event) return;
      this.#send(event);
    }
  }

  #isFull(): boolean {
    return this.#wire.bufferedAmount > HIGH_WATER_BYTES;
  }

  #send(event: KvasirEvent): void {
    this.#wire.send(JSON.stringify(event), () => this.flush());
  }

  #wait(event: KvasirEvent): void {
    const state = stateOf(event);
    for (const [i, earlier] of this.#waiting.entries()) {
      const merged = state !== undefined && stateOf(earlier) === state ? event : withMoreText(earlier, event);
      if (!merged) continue;
      this.#waiting[i] = merged;
      return;
    }
    this.#waiting.push(event);
  }
}

const STATES: ReadonlySet<EventTopic> = new Set<EventTopic>([
  'chat.changed',
  'chat.progress',
  'compare.progress',
  'queue.status',
  'library.changed',
  'models.changed',
  'models.progress',
  'models.download',
  'devices.changed',
  'devices.offers',
  'cache.changed',
  'cache.progress',
  'settings.changed',
  'backups.progress',
  'backups.changed',
  'exports.progress',
  'exports.changed',
  'calibration.progress',
  'calibration.changed',
  'analysis.changed',
  'analysis.progress',
]);

/** The state that an event describes, if a newer event replaces it; undefined: each one counts. */
function stateOf({ topic, payload }: KvasirEvent): string | undefined {
  if (!STATES.has(topic)) return undefined;
  const about = ['answerId', 'conversationId', 'libraryId', 'id'] as const;
  const ids = about.map((key) => (key in payload ? (payload as Record<string, unknown>)[key] : undefined));
  return JSON.stringify([topic, ids]);
}

/** Joins two pieces of a text if the second continues the first. */
function withMoreText(earlier: KvasirEvent, later: KvasirEvent): KvasirEvent | undefined {
  if (earlier.topic === 'chat.text' && later.topic === 'chat.text') {
    const { payload } = earlier;
    if (payload.answerId !== later.payload.answerId || !continues(payload, later.payload)) return undefined;
    return { topic: 'chat.text', payload: { ...payload, text: payload.text + later.payload.text } };
  }
  if (earlier.topic === 'chat.thinking' && later.topic === 'chat.thinking') {
    const { offset, text, answerId } = earlier.payload;
    if (answerId !== later.payload.answerId || !continues(earlier.payload, later.payload)) return undefined;
    return { topic: 'chat.thinking', payload: { ...later.payload, offset, text: text + later.payload.text } };
  }
  if (earlier.topic === 'analysis.text' && later.topic === 'analysis.text') {
    const { payload } = earlier;
    if (payload.stepId !== later.payload.stepId || !continues(payload, later.payload)) return undefined;
    return { topic: 'analysis.text', payload: { ...payload, text: payload.text + later.payload.text } };
  }
  return undefined;
}

function continues(earlier: { offset: number; text: string }, later: { offset: number }): boolean {
  return earlier.offset + earlier.text.length === later.offset;
}
