import { describe, expect, test } from 'vitest';
import type { ParsedDocument } from '../format.ts';
import { html } from '../html.ts';
import { article } from './article.ts';

const read = async (page: string): Promise<ParsedDocument> =>
  await article({ name: 'page.html', bytes: Buffer.from(page) });

const sentence = (i: number): string =>
  `The ${['north', 'south', 'east', 'west'][i % 4] ?? ''} sluice of the mill was rebuilt in ${1900 + i}, after a flood, and it has held ever since.`;
const paragraphs = (from: number, to: number): string =>
  Array.from(
    { length: to - from },
    (_, i) => `<p>${sentence(from + 2 * i)} ${sentence(from + 2 * i + 1)}</p>`,
  ).join('\n');
const links = (words: string, n = 8): string =>
  Array.from({ length: n }, (_, i) => `<li><a href="/${i}">${words} ${i}</a></li>`).join('');

/** A newspaper's page: what surrounds the article is longer than it. */
const NEWS = `<!doctype html><html><head><title>Mill rebuilt | The Esk Herald</title>
  <meta property="og:title" content="Mill rebuilt"><script>track()</script></head><body>
  <div class="masthead"><ul>${links('Section')}</ul></div>
  <div class="cookie-banner"><p>We and our 812 partners value your privacy, and ask for your consent.</p></div>
  <main><div class="story"><h1>Mill rebuilt</h1><p class="byline">By Mara Lind</p>${paragraphs(0, 6)}
    <figure><img src="a.jpg" alt="The mill in 1903"><figcaption>The mill before the flood.</figcaption></figure>
    <table><tr><th>Year</th><th>Wheels</th></tr><tr><td>1903</td><td>four</td></tr></table>
    <aside><p>Sluices are opened at high water, says the miller.</p></aside>
    <p style="display:none">Subscribe to read the hidden rest.</p>
    <ul class="share">${links('Share on network', 5)}</ul>
    ${paragraphs(20, 24)}</div></main>
  <div class="sidebar"><h3>Most read</h3><ul>${links('Another story about something else', 20)}</ul></div>
  <footer><p>© The Esk Herald. All rights reserved.</p></footer></body></html>`;

const FORUM = `<html><head><title>Noise from the wheel - Mill forum</title></head><body>
  <div id="top"><ul>${links('Board')}</ul></div>
  <div class="thread"><h1>Noise from the wheel</h1>
  ${[0, 1, 2, 3]
    .map(
      (i) => `<div class="post" id="p${i}"><div class="author"><a href="/u${i}">user${i}</a></div>
      <div class="body"><p>${sentence(4 * i)} ${sentence(4 * i + 1)}</p><p>${sentence(4 * i + 2)}</p></div></div>`,
    )
    .join('')}</div>
  <div class="related"><ul>${links('Other thread')}</ul></div></body></html>`;

const DOCS = `<html><head><title>wheel.turn — Mill 2.1</title></head><body>
  <nav class="sidebar"><ul>${links('Chapter', 30)}</ul></nav>
  <article><h1>wheel.turn<a class="headerlink" href="#turn">¶</a></h1><p>${sentence(1)} ${sentence(2)}</p>
  <h2>Parameters</h2><dl><dt>speed</dt><dd>Turns a minute, at most 40.</dd><dt>brake</dt><dd>Whether it stops.</dd></dl>
  <pre><code>wheel.turn({ speed: 12 });\n  // then wait</code></pre>
  <div class="admonition warning"><p>Warning: never turn it backwards.</p></div>
  <h2>Returns</h2><p>${sentence(3)} ${sentence(4)}</p></article>
  <div class="footer"><a href="/prev">Previous: wheel.stop</a><a href="/next">Next: wheel.oil</a></div></body></html>`;

const CHINESE = `<html lang="zh"><head><title>水车重建完成_埃斯克新闻</title></head><body>
  <div class="nav">${links('频道')}</div>
  <div class="content"><h1>水车重建完成</h1>
  ${Array.from({ length: 5 }, (_, i) => `<p>第${i + 1}座水车于一九零${i}年被洪水冲毁，村民们用了三年时间重新修建，至今仍在运转。当地档案馆保存着当年的图纸和账目，记录了每一根木料的来历。</p>`).join('')}
  <p>责任编辑：林玛拉</p></div>
  <div class="hot"><h3>热点</h3><ul>${links('另一条完全无关的新闻标题', 15)}</ul></div></body></html>`;

describe('the article of a page is read, and not what surrounds it', () => {
  test('news: all that is visible in the article, with its table and notes', async () => {
    const { text, title, warnings } = await read(NEWS);
    expect(title).toBe('Mill rebuilt');
    for (const i of [0, 1, 11, 20, 27]) expect(text).toContain(sentence(i));
    for (const words of ['four', '1903', 'The mill before the flood.', 'opened at high water'])
      expect(text).toContain(words);
    for (const words of [
      'Section',
      'Most read',
      'Another story',
      'rights reserved',
      'Share on',
      'hidden rest',
      'partners',
    ])
      expect(text).not.toContain(words);
    expect(warnings).toEqual(['Hidden text was left out: 6 words.']);
  });

  test('a forum: every post', async () => {
    const { text } = await read(FORUM);
    for (let i = 0; i < 15; i++) if (i % 4 < 3) expect(text).toContain(sentence(i));
    for (const words of ['Board', 'Other thread']) expect(text).not.toContain(words);
  });

  test('documentation: code, definitions, notes and headings', async () => {
    const { text, headings, title } = await read(DOCS);
    expect(title).toMatch(/^wheel\.turn/);
    expect(text).toContain('wheel.turn({ speed: 12 });\n  // then wait');
    for (const words of ['speed: Turns a minute', 'never turn it backwards']) expect(text).toContain(words);
    expect(headings?.map((heading) => heading.title)).toEqual(
      expect.arrayContaining(['Parameters', 'Returns']),
    );
    for (const words of ['Chapter', 'wheel.oil']) expect(text).not.toContain(words);
  });

  test('news in Chinese', async () => {
    const { text, title } = await read(CHINESE);
    expect(title).toContain('水车重建完成');
    for (let i = 1; i <= 5; i++) expect(text).toContain(`第${i}座水车`);
    for (const words of ['频道', '另一条']) expect(text).not.toContain(words);
  });

  test('notes after the text stay, comments do not', async () => {
    const comments = `<div class="comments">${'<div class="comment">I do not think that this mill was ever rebuilt at all.</div>'.repeat(9)}</div>`;
    const notes = `<div class="sidebar"><ol><li id="fn1">${'The archive of Orm has the accounts of the mill. '.repeat(8)}</li></ol></div>`;
    const { text } = await read(
      `<title>Mill</title><div class="story">${paragraphs(0, 6)}<p>It stands<a href="#fn1">1</a>.</p>${comments}${notes}</div>`,
    );
    for (const words of [sentence(0), sentence(11), 'accounts of the mill']) expect(text).toContain(words);
    expect(text).not.toContain('ever rebuilt');
  });

  test('text that is directly in the body', async () => {
    const words = [0, 1, 2, 3, 4, 5].map(sentence).join('<br><br>\n');
    const { text } = await read(
      `<title>Plain</title><ul>${links('Menu')}</ul>${words}<br><br><a href="/">Home</a>`,
    );
    for (const i of [0, 1, 2, 3, 4, 5]) expect(text).toContain(sentence(i));
  });
});

test('a page without an article is read whole, and says so', async () => {
  const page = '<title>Status</title><p>All mills run.</p><footer>Updated at noon</footer>';
  const whole = await html({ name: 'page.html', bytes: Buffer.from(page) });
  expect(await read(page)).toEqual({
    ...whole,
    warnings: ['No article was found on the page, so all of its text was read.'],
  });
});

test('a page that only scripts write says so', async () => {
  const page =
    '<html><head><title>App</title></head><body><div id="root"></div><script src="a.js"></script></body></html>';
  await expect(read(page)).rejects.toMatchObject({
    code: 'DOCUMENT_NO_TEXT',
    message: expect.stringMatching(/scripts write the page/) as string,
  });
});

test.each([
  ['elements without end', `${'<div>'.repeat(5_000)}${paragraphs(0, 6)}`],
  ['very many elements', `${paragraphs(0, 6)}${'<b>x</b>'.repeat(60_000)}`],
  [
    'names and attributes that XML does not allow',
    `<o:p a"b=c><x y='1"2<3'>${paragraphs(0, 6)}</x><1></o:p>`,
  ],
  ['a document of frames', `<frameset><noframes>${paragraphs(0, 6)}</noframes></frameset>`],
])('%s do not hinder', async (_, page) => {
  const { text } = await read(page);
  expect(text).toContain(sentence(0));
});

test('nothing in a page runs', async () => {
  const page = `<script>globalThis.ran = 1</script><img src=x onerror="globalThis.ran = 1"><svg onload="globalThis.ran = 1"></svg>${paragraphs(0, 6)}`;
  await read(page);
  expect(globalThis).not.toHaveProperty('ran');
});
