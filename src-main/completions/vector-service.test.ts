import { expect, test } from 'vitest';
import { VectorService } from './vector-service.ts';

test('texts get the prefix of what they are, and the query and the texts of a ranking theirs', async () => {
  const embedded: string[] = [];
  const embedder = {
    info: { dimension: 2, contextTokens: 100 } as never,
    countTokens: (text: string) => text.length,
    embed: (texts: readonly string[]) => {
      embedded.push(...texts);
      return Promise.resolve(Float32Array.from(texts.flatMap(() => [0.6, 0.8])));
    },
  };
  const rules = { question: 'q: ', passage: 'title: {title} | text: ', sizes: [1] };
  const service = new VectorService({ embedder: { id: 'e', identity: 'e', rules, embedder } }, () => [
    { id: 'e', name: 'E', role: 'embedding', active: true },
  ]);
  const { signal } = new AbortController();
  await service.embed('E', ['a'], signal);
  await service.embed('E', ['b'], signal, { role: 'question' });
  const cut = await service.embed('E', ['c'], signal, { role: 'passage', dimensions: 1 });
  expect(cut.vectors).toEqual([Float32Array.of(1)]);
  await service.rank('E', { query: 'd', texts: ['e'] }, signal);
  expect(embedded).toEqual(['a', 'q: b', 'title: none | text: c', 'q: d', 'title: none | text: e']);
  expect(service.whyNotDimensions('E', 1)).toBeUndefined();
  expect(service.whyNotDimensions('E', 3)).toContain('2, 1');
});
