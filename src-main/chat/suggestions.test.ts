import { expect, test } from 'vitest';
import { ServiceFixture } from '../testing/library.ts';
import { suggestionsAbout } from './suggestions.ts';

test('questions are about the newest documents of one’s own, by their titles, each title once', async () => {
  const fixture = new ServiceFixture({
    'a.md': '# Harbour rules\n\nNo fires.',
    'b.md': '# Harbour rules\n\nNo dogs.',
    'c.md': '# 仓库租约\n\n每年四千元。',
    'd.md': `# ${'x'.repeat(200)}\n\nToo long.`,
  });
  const { id } = await fixture.library();
  const titles = fixture.catalogue.documents.newestTitles([id], 10);
  expect(suggestionsAbout(titles).sort()).toEqual([
    'What do the documents say about Harbour rules?',
    '文档中关于“仓库租约”说了些什么？',
  ]);
  expect(fixture.catalogue.documents.newestTitles(['77'], 10)).toEqual([]);
});
