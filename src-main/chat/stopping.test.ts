import { describe, expect, test } from 'vitest';
import { NEW, fixture, messageOf } from '../testing/chat.ts';

describe('stopping', () => {
  /** A model that waits before the third token until the test releases it. */
  function waiting() {
    const reached = Promise.withResolvers<undefined>();
    const goOn = Promise.withResolvers<undefined>();
    const beforeToken = async (index: number): Promise<void> => {
      if (index !== 3) return;
      reached.resolve(undefined);
      await goOn.promise;
    };
    return { reached: reached.promise, goOn: () => goOn.resolve(undefined), beforeToken };
  }

  test('keeps what was written, and the next question continues from there', async () => {
    const { reached, goOn, beforeToken } = waiting();
    const { chat, ask, session } = await fixture({ beforeToken });
    const { id } = chat.create(NEW);
    const { answerId } = chat.send(id, 'Mara?');
    await reached;
    expect(messageOf(chat.get(id), answerId)).toMatchObject({ state: 'streaming' });
    expect(() => chat.send(id, 'Jon?')).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(() => chat.regenerate(id, answerId)).toThrow(expect.objectContaining({ code: 'CONFLICT' }));
    expect(chat.list()[0]).toMatchObject({ busy: true });
    chat.stop(id);
    goOn();
    await chat.idle();
    const stopped = messageOf(chat.get(id), answerId);
    expect(stopped).toMatchObject({ state: 'stopped', failure: null });
    expect('She lives in Oslo.'.startsWith(stopped.text) && stopped.text.length > 3).toBe(true);
    const held = session()!.ids.length;
    expect((await ask(id, 'Jon?')).stats?.residentTokens).toBe(held);
  });

  test('a deleted conversation stops, keeps what was written for its restoring, and then leaves memory', async () => {
    const { reached, goOn, beforeToken } = waiting();
    const { chat, session } = await fixture({ beforeToken });
    const { id } = chat.create(NEW);
    const { answerId } = chat.send(id, 'Mara?');
    await reached;
    chat.delete(id);
    await new Promise((resolve) => setImmediate(resolve));
    expect(session()!.disposed).toBe(false);
    goOn();
    await chat.idle();
    const stopped = messageOf(chat.restore(id), answerId);
    expect(stopped).toMatchObject({ state: 'stopped', failure: null });
    expect(stopped.text).toMatch(/^She/);
    expect(session()!.disposed).toBe(true);
    expect(chat.get(id).residentTokens).toBe(0);
  });

  test('a change of settings takes no answer its session, however little memory there may be', async () => {
    const { reached, goOn, beforeToken } = waiting();
    const { chat, session, settings } = await fixture({
      beforeToken,
      settings: { conversationBudgetBytes: 0 },
    });
    const { id } = chat.create(NEW);
    const { answerId } = chat.send(id, 'Mara?');
    await reached;
    settings.update({ theme: 'dark' });
    expect(session()!.disposed).toBe(false);
    goOn();
    await chat.idle();
    expect(messageOf(chat.get(id), answerId)).toMatchObject({ state: 'done', failure: null });
    expect(session()!.disposed).toBe(true);
  });

  test('one that waits for another conversation ends immediately', async () => {
    const { reached, goOn, beforeToken } = waiting();
    const { chat } = await fixture({ beforeToken });
    const [a, b] = [chat.create(NEW).id, chat.create(NEW).id];
    chat.send(a, 'Mara?');
    await reached;
    const { answerId } = chat.send(b, 'Jon?');
    await new Promise((resolve) => setImmediate(resolve));
    expect(messageOf(chat.get(b), answerId).state).toBe('waiting');
    chat.stop(b);
    await new Promise((resolve) => setImmediate(resolve));
    expect(messageOf(chat.get(b), answerId)).toMatchObject({ state: 'stopped', text: '' });
    goOn();
    await chat.idle();
    expect(chat.get(a).messages[1]).toMatchObject({ state: 'done' });
  });

  test('closing keeps what was written; so does a crash, up to the last half second', async () => {
    const { reached, goOn, beforeToken } = waiting();
    const { chat, close, dir } = await fixture({ beforeToken });
    const { id } = chat.create(NEW);
    const { answerId } = chat.send(id, 'Mara?');
    await reached;
    const crashed = await fixture({ dir }); // opens the same file, as a start after a crash would
    const message = messageOf(crashed.chat.get(id), answerId);
    expect(message.state).toBe('stopped');
    expect(message.text.length).toBeGreaterThan(0);
    expect(message.citations).toHaveLength(1);
    const closing = close();
    goOn();
    await closing;
    expect(messageOf(crashed.chat.get(id), answerId).text).toMatch(/^She/);
  });
});
