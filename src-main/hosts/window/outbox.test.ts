import { expect, test } from 'vitest';
import type { KvasirEvent } from '../../../src-shared/contract/events.ts';
import { Outbox } from './outbox.ts';

/** A wire whose other end reads only on request. */
class SlowWire {
  bufferedAmount = 0;
  readonly sent: KvasirEvent[] = [];
  #unread: (() => void)[] = [];

  send(text: string, sent: () => void): void {
    this.sent.push(JSON.parse(text) as KvasirEvent);
    this.bufferedAmount += text.length;
    this.#unread.push(sent);
  }

  read(): void {
    this.bufferedAmount = 0;
    for (const sent of this.#unread.splice(0)) sent();
  }
}

const text = (offset: number, piece: string, answerId = 'a'): KvasirEvent => ({
  topic: 'chat.text',
  payload: { conversationId: 'c', answerId, offset, text: piece },
});
const progress = (done: number): KvasirEvent => ({ topic: 'cache.progress', payload: { done, total: 100 } });
const FILLER = text(0, 'x'.repeat(300_000), 'filler');
const notice: KvasirEvent = {
  topic: 'app.notice',
  payload: { level: 'info', failure: { code: 'NOT_FOUND', message: 'Gone.', advice: '' } },
};

function fullWire(): { wire: SlowWire; outbox: Outbox } {
  const wire = new SlowWire();
  const outbox = new Outbox(wire);
  outbox.push(FILLER);
  return { wire, outbox };
}

test('what is read at once is sent at once, as it is', () => {
  const wire = new SlowWire();
  const outbox = new Outbox(wire);
  const events = [progress(1), progress(2), text(0, 'a'), text(1, 'b')];
  for (const event of events) outbox.push(event);
  expect(wire.sent).toEqual(events);
});

test('of a state only the newest waits', () => {
  const { wire, outbox } = fullWire();
  for (let done = 0; done < 1000; done++) outbox.push(progress(done));
  expect([wire.sent.length, outbox.waiting]).toEqual([1, 1]);
  wire.read();
  expect(wire.sent.slice(1)).toEqual([progress(999)]);
});

test('pieces of a thought wait as one, with its latest figures', () => {
  const { wire, outbox } = fullWire();
  const thought = (offset: number, piece: string): KvasirEvent => ({
    topic: 'chat.thinking',
    payload: {
      conversationId: 'c',
      answerId: 'a',
      offset,
      text: piece,
      ms: offset * 10,
      tokens: offset + 1,
    },
  });
  for (let i = 0; i < 100; i++) outbox.push(thought(i, 'x'));
  wire.read();
  const [whole] = wire.sent.slice(1);
  expect(wire.sent).toHaveLength(2);
  expect(whole?.payload).toMatchObject({ offset: 0, text: 'x'.repeat(100), ms: 990, tokens: 100 });
});

test('states of different things are different states', () => {
  const { wire, outbox } = fullWire();
  const changed = (libraryId?: string): KvasirEvent => ({
    topic: 'library.changed',
    payload: libraryId === undefined ? {} : { libraryId },
  });
  for (const event of [changed('1'), changed('2'), changed(), changed('1')]) outbox.push(event);
  wire.read();
  expect(wire.sent.slice(1)).toEqual([changed('1'), changed('2'), changed()]);
});

test("an answer's text is joined, and complete", () => {
  const { wire, outbox } = fullWire();
  for (const event of [
    text(0, 'Once '),
    text(0, 'Other', 'b'),
    text(5, 'upon '),
    text(10, 'a time'),
    notice,
  ]) {
    outbox.push(event);
  }
  expect(outbox.waiting).toBe(3);
  wire.read();
  expect(wire.sent.slice(1)).toEqual([text(0, 'Once upon a time'), text(0, 'Other', 'b'), notice]);
});

test('text that begins anew is not joined; what counts each time is kept each time', () => {
  const { wire, outbox } = fullWire();
  const events = [text(0, 'first'), text(0, 'again'), notice, notice];
  for (const event of events) outbox.push(event);
  wire.read();
  expect(wire.sent.slice(1)).toEqual(events);
});

test('what waits is sent only as far as it is read', () => {
  const { wire, outbox } = fullWire();
  const large = (answerId: string): KvasirEvent => text(0, 'y'.repeat(300_000), answerId);
  for (const id of ['1', '2', '3']) outbox.push(large(id));
  wire.read();
  expect(wire.sent).toEqual([FILLER, large('1')]);
  outbox.push(progress(1));
  wire.read();
  wire.read();
  wire.read();
  expect(wire.sent).toEqual([FILLER, large('1'), large('2'), large('3'), progress(1)]);
});
