import { expect, test } from 'vitest';
import type { Citation } from '../../../../src-shared/contract/chat.ts';
import { groupSources } from './source-groups.ts';

const cited = (documentId: string | null, path: string, title: string) =>
  ({ documentId, path, title }) as Citation;

test('sources are grouped by document, with the places in it and the number of each', () => {
  const groups = groupSources([
    cited('1', 'a/stocks.csv', 'stocks'),
    cited('2', 'guide.md', 'Guide › Setup › Windows'),
    cited('1', 'a/stocks.csv', 'stocks'),
    cited('3', 'b/stocks.csv', 'stocks'),
  ]);
  expect(
    groups.map(({ name, places }) => [name, ...places.map(({ index, section }) => [index, section])]),
  ).toEqual([
    ['stocks', [0, ''], [2, '']],
    ['Guide', [1, 'Setup › Windows']],
    ['stocks', [3, '']],
  ]);
});

test('passages of a document that was removed stay together by its path', () => {
  const groups = groupSources([cited(null, 'gone.md', 'Gone › A'), cited(null, 'gone.md', 'Gone › B')]);
  expect(groups).toHaveLength(1);
});
