import { expect, onTestFinished, test } from 'vitest';
import type { QueueStatus } from '../../src-shared/contract/libraries.ts';
import type { KvasirEvent } from '../../src-shared/contract/events.ts';
import { KvasirError } from '../../src-shared/errors.ts';
import { EventBus } from '../platform/event-bus.ts';
import { silentLogger } from '../platform/logger.ts';
import { LibraryEvents } from './library-events.ts';

test('a catalogue that a timer cannot read gives one notice; the status follows when it can be read again', async () => {
  const events = new EventBus();
  const told: KvasirEvent[] = [];
  events.on((event) => told.push(event));
  let failures = 0;
  const status = (): QueueStatus => {
    if (failures-- > 0) throw new KvasirError('STORE_READ_ONLY', 'It could not be read.', 'Check the drive.');
    return { waiting: 7 } as QueueStatus;
  };
  const library = new LibraryEvents({ events, log: silentLogger }, status);
  onTestFinished(() => library.close());
  library.status();
  failures = 2;
  library.status(); // in a timer, since it is too soon
  const topics = (): string[] => told.map(({ topic }) => topic);
  await expect.poll(topics).toEqual(['queue.status', 'app.notice', 'queue.status']);
});
