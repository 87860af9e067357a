import { describe, expect, test } from 'vitest';
import { NEW, fixture } from '../testing/chat.ts';
import { matchesIn } from './words.ts';

describe('the list of conversations', () => {
  test('a match names its message, and the ranges of the searched words', async () => {
    const { chat, ask } = await fixture();
    const { id } = chat.create(NEW);
    const answer = await ask(id, 'Where does Mara live?');
    const [found] = chat.list('osl she');
    expect(found).toMatchObject({ id, match: { messageId: answer.id, title: [] } });
    const words = found?.match?.snippet.map(({ start, end }) => found.snippet.slice(start, end));
    expect(words).toEqual(['She', 'Osl']);
    chat.rename(id, 'Harbour');
    expect(chat.list('harb')[0]?.match).toMatchObject({ messageId: null, title: [{ start: 0, end: 4 }] });
    expect(chat.list()[0]?.match).toBeNull();
  });

  test.each([
    ['Die Übersicht über übermorgen', 'uber', ['Über', 'über', 'über']],
    ['party art artist', 'art', ['art', 'art']],
    ['她住在奥斯陆', '奥斯', ['奥斯']],
    ['한국 하나', '하나', ['하나']],
    ['İstanbul', 'istan', ['İstan']],
    ['a+b (c)', '(c', ['c']],
  ])('words of %j that begin with %j', (text, search, words) => {
    const found = matchesIn(text, search).map(({ start, end }) => text.slice(start, end));
    expect(found).toEqual(words);
  });

  test('pinned conversations come first, after a restart too', async () => {
    const { chat, dir, close } = await fixture();
    const [first, second] = [chat.create(NEW).id, chat.create(NEW).id];
    chat.setPinned(first, true);
    expect(chat.list().map(({ id, pinned }) => [id, pinned])).toEqual([
      [first, true],
      [second, false],
    ]);
    await close();
    const again = await fixture({ dir });
    expect(again.chat.get(first).pinned).toBe(true);
    again.chat.setPinned(first, false);
    expect(again.chat.list().map(({ id }) => id)).toEqual([second, first]);
  });
});

describe('drafts', () => {
  test('are kept per conversation and for the new one, until they are emptied', async () => {
    const { chat, dir, close } = await fixture();
    const { id } = chat.create(NEW);
    chat.setDraft({ conversationId: null, text: 'first' });
    chat.setDraft({ conversationId: null, text: ' second ' });
    chat.setDraft({ conversationId: id, text: 'third' });
    await close();
    const { chat: again } = await fixture({ dir });
    expect(again.drafts()).toEqual([
      { conversationId: null, text: ' second ' },
      { conversationId: id, text: 'third' },
    ]);
    again.setDraft({ conversationId: null, text: '' });
    again.delete(id);
    expect(again.drafts()).toEqual([]);
    again.restore(id);
    expect(again.drafts()).toEqual([{ conversationId: id, text: 'third' }]);
    expect(() => again.setDraft({ conversationId: '99', text: 'x' })).toThrow(
      expect.objectContaining({ code: 'NOT_FOUND' }),
    );
  });
});
