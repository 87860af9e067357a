import { expect, test } from 'vitest';
import { KvasirError } from '../../../src-shared/errors.ts';
import type { RemotePiece, RemoteRequest } from '../../models/sources/servers/client.ts';
import { serverModel } from '../../testing/server-model.ts';
import { systemClock } from '../../platform/clock.ts';
import { conversation, type Ask } from '../ask.ts';
import type { PromptChunk } from '../passages.ts';
import { Stopwatch } from '../stopwatch.ts';
import type { AnswerEvent, Turn } from './backend.ts';
import { RemoteBackend } from './remote.ts';

const CHOICES = { systemPrompt: '', think: false, contextTokens: 4096, maxTokens: 100 };

const passage = (text: string): PromptChunk => ({
  text,
  tokens: new Int32Array(4),
  label: 'notes.md',
  score: 1,
});

interface SentRequest {
  separator?: string;
  more?: Partial<Ask>;
  says?: RemotePiece[];
}

/** What a server is sent, and what becomes of its answer. */
async function answered(
  { messages }: Pick<Ask, 'messages'>,
  { separator = '', more, says }: SentRequest = {},
) {
  const sent: RemoteRequest[] = [];
  const model = serverModel({ separator, says, onRequest: (request) => sent.push(request) });
  const ask = {
    name: 'There',
    model,
    messages,
    choices: { ...CHOICES, sampling: { temperature: 0 } },
    form: 'conversation',
    reserve: 100,
    stopwatch: new Stopwatch(systemClock),
    before: { retrieve: 0 },
    ...more,
  } as Ask;
  const backend = new RemoteBackend(model);
  const events = backend.turn(ask, backend.layOut({ ...ask, ...CHOICES }));
  const told: AnswerEvent[] = [];
  let next: IteratorResult<AnswerEvent, Turn>;
  while (!(next = await events.next()).done) told.push(next.value);
  return { sent: sent[0]?.messages, told, turn: next.value };
}

test('messages are sent as they are, in whatever order', async () => {
  const messages = [
    { role: 'system', pieces: ['Be brief.\n'] },
    { role: 'user', pieces: [' One? '] },
    { role: 'assistant', pieces: ['One.'] },
    { role: 'user', pieces: ['Two?'] },
  ] as const;
  const { sent } = await answered({ messages });
  expect(sent).toEqual(messages.map(({ role, pieces }) => ({ role, content: pieces.join('') })));
});

test('passages stand apart from each other and from what is around them', async () => {
  const asked = conversation('Who?', [passage('First.\n\n'), passage('Second.')], CHOICES);
  const { sent } = await answered(asked);
  expect(sent).toEqual([{ role: 'user', content: 'First.\n\nSecond.\n\nQuestion: Who?' }]);
  const separated = await answered(asked, { separator: ' # # ' });
  expect(separated.sent?.[0]?.content).toBe(' # # First. # # Second. # # Question: Who?');
});

test('a passage that an earlier turn sent is not sent again', async () => {
  const past = { question: 'Who?', chunks: [passage('Mara.')], text: 'She.', answer: new Int32Array(0) };
  const { sent } = await answered(
    conversation('Where?', [passage('Mara.'), passage('Oslo.')], CHOICES, [past]),
  );
  expect(sent?.map(({ content }) => content)).toEqual([
    'Mara.\n\nQuestion: Who?',
    'She.',
    'Oslo.\n\nQuestion: Where?',
  ]);
});

test('a begun answer is continued without its thought', async () => {
  const asked = conversation('Who?', [], CHOICES);
  const begun = { thought: 'Hm.', text: 'It is' };
  const { sent, told, turn } = await answered(asked, {
    more: { begun },
    says: [{ kind: 'text', text: ' Mara.' }],
  });
  expect(sent).toMatchObject([
    { role: 'user', content: 'Question: Who?' },
    { role: 'assistant', content: 'It is' },
    { role: 'user' },
  ]);
  expect(told[0]).toEqual({ kind: 'begun', written: { thought: 'Hm.', answer: 'It is' } });
  expect(turn).toMatchObject({ thought: 'Hm.', text: 'It is Mara.' });
});

test('a thought that was begun is asked for again, and what comes of it continues it', async () => {
  const says: RemotePiece[] = [
    { kind: 'thought', text: 'mm.' },
    { kind: 'text', text: 'Mara.' },
  ];
  const begun = { thought: 'H', text: '' };
  const { sent, turn } = await answered(conversation('Who?', [], CHOICES), { more: { begun }, says });
  expect(sent).toEqual([{ role: 'user', content: 'Question: Who?' }]);
  expect(turn).toMatchObject({ thought: 'Hmm.', text: 'Mara.' });
});

test.each([
  ['a filter', { filter: 'top_k' }, /^top_k is not supported/],
  ['log probabilities', { choices: { sampling: { chances: 2 } } }, /^Log probabilities/],
  ['a grammar', { choices: { sampling: { grammar: 'root ::= "x"' } } }, /^Log probabilities and grammars/],
  ['no tokens', { choices: { maxTokens: 0, sampling: {} } }, /no cache to fill/],
])('%s is refused before anything is sent', async (_what, more, says) => {
  const asked = conversation('Who?', [], CHOICES);
  const refused = answered(asked, { more: more as unknown as Partial<Ask> });
  await expect(refused).rejects.toThrow(KvasirError);
  await expect(refused).rejects.toThrow(says);
});
