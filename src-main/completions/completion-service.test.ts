import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SharedChunks } from '../kvstore/shared-chunks.ts';
import type { RemoteRequest } from '../models/sources/servers/client.ts';
import { serverModel } from '../testing/server-model.ts';
import { completionFixture, question } from '../testing/completions.ts';
import type { FakeStore } from '../testing/fusion.ts';
import type { TokensWithLead } from '../fusion/model.ts';
import type { CompletionDelta, CompletionRequest } from './types.ts';

const GOES_ON = new AbortController().signal;
const RUN = { signal: GOES_ON };
const DEVIATION = { name: 'deviation', ratio: 0.15 } as const;

describe('a model', () => {
  test('answers in its chat template, and reports the tokens used', async () => {
    const { service, model } = completionFixture();
    const result = await service.complete(question('Where does she live?'), RUN);
    expect(result).toMatchObject({
      model: 'Fake',
      text: 'She lives in Oslo.',
      finish: 'stop',
      citations: [],
    });
    const { promptTokens, completionTokens, cachedTokens } = result.usage;
    expect([promptTokens, completionTokens, cachedTokens]).toEqual([
      model.sessions[0]?.tokens.length,
      model.tokenize('She lives in Oslo.').length,
      0,
    ]);
    expect(model.detokenize(model.sessions[0]?.tokens ?? [], { special: true })).toBe(
      '<s><|im_start|>system\nYou are Qwen.<|im_end|>\n<|im_start|>user\nWhere does she live?<|im_end|>\n<|im_start|>assistant\n',
    );
    expect(model.sessions.every(({ disposed }) => disposed)).toBe(true);
  });

  test('stops at a stop text, and computes no further', async () => {
    const deltas: CompletionDelta[] = [];
    const says = `She lives in Oslo. ${'And on. '.repeat(200)}`;
    const beforeToken = () => new Promise<void>((resolve) => setImmediate(resolve));
    const { service, model } = completionFixture({ says, beforeToken });
    const result = await service.complete(question('Where?', { stop: ['n Osl', 'tea'] }), {
      ...RUN,
      onDelta: (delta) => deltas.push(delta),
    });
    expect(result).toMatchObject({ text: 'She lives i', finish: 'stop', stoppedBy: 'n Osl' });
    expect(deltas.map(({ text }) => text).join('')).toBe('She lives i');
    expect(result.usage.completionTokens).toBe(model.tokenize('She lives in Oslo').length);
    expect(model.sessions[0]?.length).toBeLessThan(model.tokenize(says).length / 2);
  });

  test('says when the limit of tokens ended it', async () => {
    const { service } = completionFixture();
    const { text, finish, usage } = await service.complete(question('Where?', { maxTokens: 2 }), RUN);
    expect([text, finish, usage.completionTokens]).toEqual(['She live', 'length', 2]);
  });

  test('separates its thoughts, and counts their tokens among those it used', async () => {
    const { service, model } = completionFixture({ says: '<think>Hm.</think>Oslo.' });
    const { text, thought, usage } = await service.complete(question('Where?'), RUN);
    expect([text, thought]).toEqual(['Oslo.', 'Hm.']);
    expect(usage.completionTokens).toBe(model.tokenize('<think>Hm.</think>Oslo.').length);
    expect(usage.completionTokens - usage.thoughtTokens).toBe(model.tokenize('Oslo.').length);
  });

  test('continues raw text, white space included', async () => {
    const { service, model } = completionFixture({ says: ' there <think>was' });
    const { text } = await service.complete({ model: 'Fake', prompt: { text: [{ text: 'Once' }] } }, RUN);
    expect(text).toBe(' there <think>was');
    expect(model.detokenize(model.sessions[0]?.tokens ?? [], { special: true })).toBe('<s>Once');
  });

  test('on a server does not continue raw text, which no message could carry', async () => {
    const { service, model } = completionFixture({ server: serverModel() });
    await expect(
      service.complete({ model: 'Fake', prompt: { text: [{ text: 'Once' }] } }, RUN),
    ).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
      advice: expect.stringContaining('/v1/chat/completions') as string,
    });
    expect(model.sessions).toEqual([]);
    expect((await service.complete(question('Where?'), RUN)).text).toBe('She lives in Oslo.');
  });

  test('on a server is sent a JSON schema; an answer that ignores it fails', async () => {
    const json = { schema: { type: 'object' }, grammar: 'root ::= "{}"' };
    const sent: RemoteRequest[] = [];
    const answering = (text: string) =>
      completionFixture({
        server: serverModel({ says: [{ kind: 'text', text }], onRequest: (request) => sent.push(request) }),
      }).service.complete(question('Where?', { json }), RUN);
    expect((await answering('{"city": "Oslo"}')).text).toBe('{"city": "Oslo"}');
    expect(sent[0]?.json?.schema).toEqual(json.schema);
    await expect(answering('In Oslo.')).rejects.toMatchObject({
      code: 'REMOTE_FAILED',
      message: 'there.invalid ignored the requested JSON format.',
    });
  });

  test('on a server that a stop text cut short has estimated counts', async () => {
    const { service } = completionFixture({ server: serverModel() });
    const { text, stoppedBy, usage } = await service.complete(question('Where?', { stop: [' in'] }), RUN);
    expect([text, stoppedBy]).toEqual(['She lives', ' in']);
    expect(usage.promptTokens).toBeGreaterThan(0);
    expect(usage.completionTokens).toBeGreaterThan(0);
  });

  test('that is not in use is refused, and what is no model', async () => {
    const { service } = completionFixture();
    const asked = (model: string) => service.complete(question('Where?', { model }), RUN);
    await expect(asked('Other')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('is available') as string,
    });
    await expect(asked('None')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('There is no model') as string,
    });
    await expect(asked('kvasir/None')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      advice: expect.stringContaining('kvasir/Notes') as string,
    });
    await expect(asked('kvasir/Twice')).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
    expect(service.models().map(({ name }) => name)).toEqual(['Fake', 'kvasir/Notes', 'kvasir/Twice']);
  });

  test('gets no prompt that leaves no room for an answer', async () => {
    const { service } = completionFixture({ contextTrain: 128 });
    await expect(service.complete(question('why '.repeat(200)), RUN)).rejects.toMatchObject({
      code: 'CONTEXT_OVERFLOW',
    });
  });
});

/** A store's view of the cache that another machine shares. */
function sharedBy(
  there: FakeStore,
  here: FakeStore,
): Pick<SharedChunks, 'available' | 'locate' | 'fetch' | 'bring'> {
  return {
    available: true,
    locate: (keys) => Promise.resolve(new Set(keys.filter((key) => there.has(key) && !here.has(key)))),
    fetch: (key) => {
      const chunk = there.chunks.get(key);
      if (chunk) here.chunks.set(key, chunk);
      return Promise.resolve(chunk !== undefined);
    },
    bring: () => undefined,
  };
}

describe('tokens', () => {
  const { prompt } = question('Where?');

  test('of a prompt are those that an answer counts', async () => {
    const { service } = completionFixture();
    const { tokens } = await service.tokenize({ model: 'Fake', prompt }, true);
    expect((await service.complete(question('Where?'), RUN)).usage.promptTokens).toBe(tokens.length);
  });

  test('of a library’s prompt are not known before it has searched', async () => {
    const { service } = completionFixture();
    const asked = service.tokenize({ model: 'kvasir/Notes', prompt }, true);
    await expect(asked).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
      message: expect.stringContaining('only after its search') as string,
    });
    const nothing = service.tokenize({ model: 'kvasir/None', prompt }, true);
    await expect(nothing).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  test('of a model on a server are not known, nor reported where a prompt is too long', async () => {
    const { service } = completionFixture({ server: serverModel({ contextTokens: 128 }) });
    await expect(service.tokenize({ model: 'Fake', prompt }, true)).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
      message: expect.stringContaining('tokenizer') as string,
    });
    await expect(service.complete(question('why '.repeat(200)), RUN)).rejects.toMatchObject({
      code: 'CONTEXT_OVERFLOW',
      message: expect.not.stringMatching(/\d|tokens/) as string,
    });
  });
});

describe('chunks that a client marks', () => {
  const part = (text: string) => ({ text, cache: true });
  const asked = (...parts: { text: string; cache?: boolean }[]) => ({
    model: 'Fake',
    strategy: DEVIATION,
    prompt: { messages: [{ role: 'user' as const, parts }] },
  });
  const first = asked(part('Mara lives in Oslo.'), part('Jon sells tea.'), { text: 'Where?' });
  const second = asked(part('Jon sells tea.'), { text: 'And then: ' }, part('Mara lives in Oslo.'), {
    text: 'Who?',
  });

  test('are computed once, and reused in every later prompt', async () => {
    const { service, model, store } = completionFixture();
    const chunkTokens = ['Mara lives in Oslo.', 'Jon sells tea.'].reduce(
      (sum, text) => sum + model.tokenize(text).length,
      0,
    );
    const before = await service.complete(first, RUN);
    expect(before.usage).toMatchObject({ storedTokens: chunkTokens, cachedTokens: 0 });
    expect([model.encoded, store.chunks.size]).toEqual([2, 2]);
    const after = await service.complete(second, RUN);
    expect(after.usage).toMatchObject({ storedTokens: 0, cachedTokens: chunkTokens });
    expect(after.made.stats).toMatchObject({ reusedTokens: chunkTokens, chunkHits: { disk: 2 } });
    expect(model.encoded).toBe(2);
    expect(store.leases).toBe(0);
  });

  test('count as cached only where this request did not compute them itself', async () => {
    const { service, model } = completionFixture();
    await service.complete(asked(part('Mara lives in Oslo.'), { text: 'Where?' }), RUN);
    const { usage } = await service.complete(second, RUN);
    expect(usage.cachedTokens).toBe(model.tokenize('Mara lives in Oslo.').length);
    expect(usage.storedTokens).toBe(model.tokenize('Jon sells tea.').length);
  });

  test('count as cached where another machine computed them, and they are fetched', async () => {
    const there = completionFixture();
    const { storedTokens } = (await there.service.complete(first, RUN)).usage;
    const { service, model, store } = completionFixture();
    Object.assign(store, { shared: sharedBy(there.store, store) });
    const { usage } = await service.complete(first, RUN);
    expect([usage.storedTokens, usage.cachedTokens]).toEqual([0, storedTokens]);
    expect([model.encoded, store.chunks.size]).toEqual([0, 2]);
  });

  test('are computed with the rest by a model that does not blend, which says so', async () => {
    const { service, store } = completionFixture({ obstacle: 'running-state' });
    const { text, usage, made } = await service.complete(first, RUN);
    expect(text).toBe('She lives in Oslo.');
    expect([store.chunks.size, usage.cachedTokens, usage.storedTokens]).toEqual([0, 0, 0]);
    expect(made.plan?.reason).toBe('not-blended');
  });

  test('are neither read nor stored where everything is to be computed', async () => {
    const { service, store } = completionFixture();
    const { usage } = await service.complete({ ...first, strategy: { name: 'full', ratio: 0 } }, RUN);
    expect([store.chunks.size, usage.cachedTokens, usage.storedTokens]).toEqual([0, 0, 0]);
  });
});

describe('requests that wait', () => {
  /** Requests wait until `begin`; their chunks with this text are at hand. Resolves with the order in which they begin. */
  function queued(atHand: string) {
    const ended: number[] = [];
    const found: string[][] = [];
    const searched: unknown[] = [];
    const { service, gate, model } = completionFixture({
      waiting: {
        add: (find) => {
          const at = found.push([]) - 1;
          const texts = (chunks: readonly TokensWithLead[]) =>
            chunks.map(({ tokens }) => model.detokenize(tokens));
          const finding = Promise.resolve(find({ name: 'Fake', model }));
          finding.then(
            (chunks) => (found[at] = texts(chunks)),
            () => undefined,
          );
          return {
            atHand: () => found[at]?.filter((text) => text === atHand).length ?? 0,
            end: () => ended.push(at),
          };
        },
        search: async (...asked) => {
          searched.push(asked);
          return [{ tokens: model.tokenize('Found.') }];
        },
      },
    });
    const held = Promise.withResolvers<undefined>();
    const holding = gate.foreground(() => held.promise);
    const order: string[] = [];
    const asking: Promise<unknown>[] = [holding];
    const ask = (name: string, request: CompletionRequest): void => {
      asking.push(service.complete(request, { ...RUN, onBegin: () => order.push(name) }));
    };
    const begin = async (): Promise<string[]> => {
      await expect.poll(() => found.length).toBe(asking.length - 1);
      await new Promise((resolve) => setImmediate(resolve));
      held.resolve(undefined);
      await Promise.all(asking);
      return order;
    };
    return { ask, begin, found, searched, ended };
  }

  const marked = (text: string, more: Partial<CompletionRequest> = {}): CompletionRequest => ({
    ...{ model: 'Fake', strategy: DEVIATION },
    prompt: { messages: [{ role: 'user', parts: [{ text, cache: true }, { text: 'Where?' }] }] },
    ...more,
  });

  test('begin with those whose marked chunks are at hand', async () => {
    const { ask, begin, found, ended } = queued('Mara lives in Oslo.');
    ask('tea', marked('Jon sells tea.'));
    ask('full', marked('Mara lives in Oslo.', { strategy: { name: 'full', ratio: 0 } }));
    ask('Oslo', marked('Mara lives in Oslo.'));
    expect(await begin()).toEqual(['Oslo', 'tea', 'full']);
    expect(found).toEqual([['Jon sells tea.'], [], ['Mara lives in Oslo.']]);
    expect(new Set(ended)).toEqual(new Set([0, 1, 2]));
  });

  test('to a library begin with those whose words find passages that are at hand', async () => {
    const { ask, begin, searched } = queued('Found.');
    ask('tea', marked('Jon sells tea.'));
    ask('notes', question('Where does Mara live?', { model: 'kvasir/Notes', topK: 2 }));
    expect(await begin()).toEqual(['notes', 'tea']);
    const scope = { libraryIds: ['1'], documentIds: [] };
    expect(searched).toEqual([['Where does Mara live?', { scope, topK: 2 }]]);
  });

  test('that cannot be answered say why in their turn', async () => {
    const { ask, begin, found } = queued('');
    ask('nothing', question(' ', { model: 'kvasir/Notes' }));
    await expect(begin()).rejects.toMatchObject({ code: 'BAD_ARGUMENT' });
    expect(found).toEqual([[]]);
  });
});

describe('a library', () => {
  const asked = (text: string) => question(text, { model: 'kvasir/Notes' });

  test('answers from its passages, cites them, and marks what rests on which', async () => {
    const { service, model } = completionFixture();
    const result = await service.complete(asked('Where does Mara live?'), RUN);
    expect(result.text).toBe('She lives in Oslo [1].');
    expect(result.citations[0]).toMatchObject({
      path: 'mara.md',
      text: 'Mara Lind lives in Oslo. She builds bridges.',
    });
    const prompt = model.detokenize(model.sessions[0]?.tokens ?? []);
    expect(prompt).toMatch(
      /user\nMara Lind lives in Oslo\. .*Question: Where does Mara live\?\nassistant\n$/s,
    );
  });

  test('that is asked by a text keeps thoughts apart all the same', async () => {
    const { service } = completionFixture({ says: '<think>Hm.</think>She lives in Oslo.' });
    const prompt = { text: [{ text: 'Where does Mara live?' }] };
    const { text, thought, citations } = await service.complete({ model: 'kvasir/Notes', prompt }, RUN);
    expect([text, thought]).toEqual(['She lives in Oslo [1].', 'Hm.']);
    expect(citations[0]?.path).toBe('mara.md');
  });

  test('is asked what the last message asks, in the conversation before it', async () => {
    const { service, model } = completionFixture();
    await service.complete(
      {
        model: 'kvasir/Notes',
        prompt: {
          messages: [
            { role: 'system', parts: [{ text: 'Be brief.' }] },
            { role: 'user', parts: [{ text: 'Who sells tea?' }] },
            { role: 'assistant', parts: [{ text: 'Jon does.' }] },
            { role: 'user', parts: [{ text: 'Where does he live?' }] },
          ],
        },
      },
      RUN,
    );
    const prompt = model.detokenize(model.sessions[0]?.tokens ?? []);
    expect(prompt).toMatch(
      /^system\nAnswer from the passages [^\n]*\n\nBe brief\.\nuser\nWho sells tea\?\nassistant\nJon does\.\nuser\n/,
    );
    // Found by the previous question, which the last one refers to.
    expect(prompt).toMatch(/Jon Berg lives in Porto.*Question: Where does he live\?/s);
  });

  test('rewrites a follow-up for five seconds at most, and otherwise searches with the question before it', async () => {
    const limit = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
    onTestFinished(() => timeout.mockRestore());
    const beforeToken = async (index: number): Promise<void> => {
      await Promise.resolve();
      if (index === 2) limit.abort(); // the model has not written the question yet
    };
    const { service, model } = completionFixture({
      says: 'Mara Lind lives in Oslo.',
      parameterCount: 3e9,
      beforeToken,
    });
    const messages = [
      { role: 'user' as const, parts: [{ text: 'Who sells tea?' }] },
      { role: 'assistant' as const, parts: [{ text: 'Jon does.' }] },
      { role: 'user' as const, parts: [{ text: 'Where does he live?' }] },
    ];
    const { text, citations } = await service.complete(
      { model: 'kvasir/Notes', prompt: { messages }, topK: 1 },
      RUN,
    );
    expect(timeout.mock.calls).toEqual([[5000]]);
    const [rewriting, answering] = model.sessions.map(({ ids }) => model.detokenize(ids));
    expect(rewriting).toMatch(/Last question: Where does he live\?[^]*assistant\nMara( \w+)?$/);
    expect(answering).toContain('Question: Where does he live?');
    expect([text.slice(0, 23), citations.map(({ path }) => path)]).toEqual([
      'Mara Lind lives in Oslo',
      ['jon.md'],
    ]);
  });

  test('answers from all of it when nothing matches; without documents from nothing, and says so', async () => {
    const { service, gone } = completionFixture();
    const { citations, made } = await service.complete(asked('Xylophones?'), RUN);
    expect(new Set(citations.map(({ reason }) => reason))).toEqual(new Set(['whole-document']));
    expect(made.stats.documents?.every(({ readTokens, tokens }) => readTokens === tokens)).toBe(true);
    for (const { documentId } of citations) gone.add(Number(documentId));
    const guessed = await service.complete(asked('Xylophones?'), RUN);
    expect(guessed.made.notices).toMatchObject([{ kind: 'no-match' }]);
    const strict = service.complete({ ...asked('Xylophones?'), mayGuess: false }, RUN);
    await expect(strict).rejects.toMatchObject({ code: 'NO_MATCH' });
  });

  test('wants a question', async () => {
    const { service } = completionFixture();
    const messages = [{ role: 'assistant' as const, parts: [{ text: 'So.' }] }];
    await expect(
      service.complete({ model: 'kvasir/Notes', prompt: { messages } }, RUN),
    ).rejects.toMatchObject({
      code: 'BAD_ARGUMENT',
    });
  });
});

describe('stopping', () => {
  test('ends an answer while it is written, and its session', async () => {
    const abort = new AbortController();
    const beforeToken = async (index: number): Promise<void> => {
      await Promise.resolve();
      if (index === 2) abort.abort();
    };
    const { service, model } = completionFixture({ beforeToken });
    await expect(service.complete(question('Where?'), { signal: abort.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(model.sessions[0]?.disposed).toBe(true);
    expect(service.queue).toEqual({ waiting: 0, running: 0 });
  });

  test('ends a wait immediately', async () => {
    const { service, gate, model } = completionFixture();
    const held = Promise.withResolvers<undefined>();
    const holding = gate.foreground(() => held.promise);
    const abort = new AbortController();
    const asked = service.complete(question('Where?'), { signal: abort.signal });
    await expect.poll(() => service.queue).toEqual({ waiting: 1, running: 0 });
    abort.abort();
    await expect(asked).rejects.toMatchObject({ code: 'ABORTED' });
    expect(service.queue).toEqual({ waiting: 0, running: 0 });
    held.resolve(undefined);
    await holding;
    expect(model.sessions).toEqual([]);
  });

  test('when the service is closed ends what runs and what waits, and lets nothing more in', async () => {
    const beforeToken = () => new Promise<void>((resolve) => setImmediate(resolve));
    const { service, model } = completionFixture({ says: 'And on. '.repeat(300), beforeToken });
    const asked = [1, 2, 3].map(() => service.complete(question('Where?'), RUN));
    const ended = Promise.allSettled(asked);
    await expect.poll(() => service.queue).toEqual({ waiting: 2, running: 1 });
    await service.close();
    expect(service.queue).toEqual({ waiting: 0, running: 0 });
    expect(model.sessions.map(({ disposed }) => disposed)).toEqual([true]);
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(service.complete(question('Where?'), RUN)).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('requests beyond the most that wait are refused', async () => {
    const { service, gate } = completionFixture();
    const held = Promise.withResolvers<undefined>();
    const holding = gate.foreground(() => held.promise);
    const waiting = Array.from({ length: 256 }, () => service.complete(question('Where?'), RUN));
    await expect(service.complete(question('Where?'), RUN)).rejects.toMatchObject({ code: 'CONFLICT' });
    held.resolve(undefined);
    await holding;
    expect(await Promise.all(waiting)).toHaveLength(256);
  });
});

describe('an answer that repeats itself', () => {
  const says = 'She lives in Oslo, where she builds bridges. '.repeat(40);
  const beforeToken = () => new Promise<void>((resolve) => setImmediate(resolve));

  test('is ended, and says why', async () => {
    const { service } = completionFixture({ says, beforeToken });
    const { text, finish, made } = await service.complete(question('Where?', { maxTokens: 3000 }), RUN);
    expect(text.length).toBeLessThan(says.length / 4);
    expect([finish, made.notices.map(({ kind }) => kind)]).toEqual(['stop', ['repeats']]);
  });

  test('is not where it continues a text', async () => {
    const { service } = completionFixture({ says, beforeToken });
    const asked = { model: 'Fake', prompt: { text: [{ text: 'Once' }] }, maxTokens: 3000 };
    expect((await service.complete(asked, RUN)).text).toBe(says);
  });
});
