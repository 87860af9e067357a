import { join } from 'node:path';
import SQLite from 'better-sqlite3';
import { expect, test } from 'vitest';
import { NEW, fixture, messageOf, ofTopic } from '../testing/chat.ts';

test('an answer whose end cannot be stored has failed, and is stored once that is possible', async () => {
  const { chat, ask, dir, events } = await fixture();
  const { id } = chat.create(NEW);
  const other = new SQLite(join(dir, 'conversations.sqlite'));
  other.exec(`CREATE TRIGGER full BEFORE UPDATE OF state ON message BEGIN SELECT RAISE(FAIL, 'full'); END`);
  const { answerId } = chat.send(id, 'Mara?');
  await chat.idle();
  const failed = messageOf(chat.get(id), answerId);
  expect(failed).toMatchObject({ state: 'failed', text: 'She lives in Oslo.' });
  expect(failed.failure?.message).toMatch(/full/);
  expect(ofTopic(events, 'chat.done')).toMatchObject([{ payload: { answerId, state: 'failed' } }]);
  other.exec('DROP TRIGGER full');
  other.close();
  await ask(chat.create(NEW).id, 'Jon?');
  expect(messageOf(chat.get(id), answerId)).toMatchObject({ state: 'done', failure: null });
});

test('it is stored at the end of Kvasir at the latest', async () => {
  const { chat, dir, close } = await fixture();
  const { id } = chat.create(NEW);
  const other = new SQLite(join(dir, 'conversations.sqlite'));
  other.exec(`CREATE TRIGGER full BEFORE UPDATE OF state ON message BEGIN SELECT RAISE(FAIL, 'full'); END`);
  const { answerId } = chat.send(id, 'Mara?');
  await chat.idle();
  other.exec('DROP TRIGGER full');
  other.close();
  await close();
  const again = await fixture({ dir });
  expect(messageOf(again.chat.get(id), answerId)).toMatchObject({ state: 'done' });
});
