import { describe, expect, test } from 'vitest';
import type { ParsedDocument } from './format.ts';
import { html } from './html.ts';

const read = async (page: string | Buffer, name = 'page.html'): Promise<ParsedDocument> =>
  await html({ name, bytes: Buffer.from(page) });
const textOf = async (page: string): Promise<string> => (await read(page)).text;

describe('encodings', () => {
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
  const german = 'Die Brücke in Orm';
  test.each([
    ['UTF-8 that says utf-16', Buffer.from(`<meta charset="utf-16"><p>${german}`), german],
    ['UTF-8 that says gb2312', Buffer.from('<meta charset=gb2312><p>水车在奥姆'), '水车在奥姆'],
    ['UTF-8 that says latin1', Buffer.from(`<meta charset=iso-8859-1><p>${german}`), german],
    ['UTF-8 without a declaration', Buffer.from(`<p>${german}`), german],
    [
      'UTF-8 with a mark against the declaration',
      Buffer.from(`\ufeff<meta charset=windows-1251><p>${german}`),
      german,
    ],
    ['UTF-16 with a mark', Buffer.from(`\ufeff<meta charset=utf-8><p>${german}`, 'utf16le'), german],
    ['XML in UTF-16 without a mark', Buffer.from(`<?xml version="1.0"?><p>${german}</p>`, 'utf16le'), german],
    [
      'latin1, which means windows-1252',
      latin('<meta charset="iso-8859-1"><p>\x93caf\xe9\x94 10 \x80'),
      '“café” 10 €',
    ],
    [
      'a late declaration',
      latin(`<style>${'a'.repeat(5000)}</style><meta charset=windows-1251><p>\xcf\xe0\xf0\xee\xec`),
      'Паром',
    ],
    [
      'a declaration in a comment',
      latin('<!-- <meta charset=koi8-r> --><meta charset=windows-1251><p>\xcf\xe0\xf0\xee\xec'),
      'Паром',
    ],
    [
      'http-equiv',
      latin(
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>\xcf\xe0\xf0\xee\xec',
      ),
      'Паром',
    ],
    [
      'an XML declaration',
      latin('<?xml version="1.0" encoding="windows-1251"?><p>\xcf\xe0\xf0\xee\xec</p>'),
      'Паром',
    ],
    ['gbk bytes that are also UTF-8', latin('<meta charset=gbk><p>\xc1\xaa\xcd\xa8'), '联通'],
    ['an unknown label', Buffer.from(`<meta charset="none"><p>${german}`), german],
  ])('%s', async (_, bytes, text) => {
    expect((await read(bytes)).text).toBe(text);
  });
});

describe('what is visible', () => {
  test('is read: warnings, footers, forms, noscript, details', async () => {
    expect(
      await textOf(
        `<header><p>Esk</p></header><main><h1>The kiln</h1><aside><p>Never open it.</p></aside>
         <noscript><p>12 crowns.</p></noscript><details><summary>More</summary><p>Closed.</p></details>
         <p><input value="Per"><input type=hidden value=no><textarea>Rye</textarea><select><option>A<option selected>B</select></p>
         <dialog open>Open</dialog></main><footer>Revised 2026</footer>`,
      ),
    ).toBe(
      'Esk\n\n# The kiln\n\nNever open it.\n\n12 crowns.\n\nMore\n\nClosed.\n\nPer Rye B\n\nOpen\n\nRevised 2026',
    );
  });

  test.each([
    ['hidden', '<p hidden>no no</p>'],
    ['display', '<p style="color:red; DISPLAY : none">no no</p>'],
    ['visibility', '<p style="visibility:hidden">no no</p>'],
    ['font size', '<span style="font-size:0px">no no</span>'],
    ['a style sheet', '<style>.x, p.y { display: none }</style><p class="a y">no no</p>'],
    ['a closed dialog', '<dialog>no no</dialog>'],
    ['a popover', '<div popover>no no</div>'],
    ['Office', '<span style="mso-hide:all">no no</span>'],
  ])('is not what is hidden by %s, and a warning says so', async (_, part) => {
    expect(await read(`<p>Yes</p>${part}<p>Yes</p>`)).toMatchObject({
      text: 'Yes\n\nYes',
      warnings: ['Hidden text was left out: 2 words.'],
    });
  });

  test.each([
    ['part of a hidden element', '<p style="visibility:hidden">no <b style="visibility:visible">Yes</b></p>'],
    [
      'no size inside a hidden element',
      '<p>Yes</p><p style="visibility:hidden"><b style="font-size:12px">no</b></p>',
    ],
    ['letters in a box of size 0', '<div style="font-size:0"><b style="font-size:12px">Yes</b></div>'],
    [
      'a tab that a script shows',
      '<style>.tab{display:none} .tab.on{display:block}</style><p class=tab>Yes</p>',
    ],
    ['what only print leaves out', '<style>@media print{.x{display:none}}</style><p class=x>Yes</p>'],
    ['what only screen readers skip', '<p aria-hidden=true>Yes</p>'],
    ['what a search shows', '<p hidden="until-found">Yes</p>'],
    ['a shadow root', '<div><template shadowrootmode=open><p>Yes</p></template></div>'],
  ])('is %s', async (_, part) => {
    expect(await textOf(part)).toBe('Yes');
  });

  test('is never in scripts, styles, templates, and pleas for scripts', async () => {
    expect(
      await textOf(
        '<p>A<script>x</script><style>y</style><template>z</template><noscript>Enable JavaScript!</noscript>',
      ),
    ).toBe('A');
    await expect(textOf('<noscript>Enable JavaScript!</noscript>')).rejects.toMatchObject({
      code: 'DOCUMENT_NO_TEXT',
    });
  });
});

describe('navigation', () => {
  const text = '<p>The weir is raised in autumn.</p>';
  test.each([
    ['a site menu goes', `<nav><ul><li><a href=/>Home</a><li><a href=/b>About</a></ul></nav>${text}`, ''],
    ['a table of contents stays', `<nav class="toc"><a href=a>Weirs</a></nav>${text}`, 'Weirs\n\n'],
    [
      'words stay',
      `<nav><p>Take the path along the river.</p></nav>${text}`,
      'Take the path along the river.\n\n',
    ],
    [
      'most of the page stays',
      `<nav><ol><li><a href=a>Chapter 4: Weirs need oak of 9 cm</a></ol></nav>${text}`,
      '1. Chapter 4: Weirs need oak of 9 cm\n\n',
    ],
  ])('%s', async (_, page, before) => {
    expect(await textOf(page)).toBe(`${before}The weir is raised in autumn.`);
  });
});

describe('tables', () => {
  test.each([
    [
      'spans and a header of two rows',
      `<tr><th rowspan=2>Town<th colspan=2>Bridges<tr><th>Count<th>Length<tr><td rowspan=2>Orm<td>7<td>412<tr><td>3<td>96`,
      '- Town: Orm; Bridges Count: 7; Bridges Length: 412\n- Town: Orm; Bridges Count: 3; Bridges Length: 96',
    ],
    [
      'a caption, a subtitle, a foot before the body',
      `<caption>Tariffs</caption><thead><tr><th>Berth<th>Crowns<tfoot><tr><td>All<td>80<tbody><tr><th colspan=2>North<tr><td>N1<td>40<br>max`,
      'Tariffs\n- North\n- Berth: N1; Crowns: 40 max\n- Berth: All; Crowns: 80',
    ],
    ['names of rows', '<tr><th>Length:<td>412 m<tr><th>Built<td>1904', '- Length: 412 m\n- Built: 1904'],
    ['a layout', '<tr><td><h2>Left</h2><p>l</p><td><p>right</p>', '## Left\n\nl\n\nright'],
    ['words in no cell', 'A<tr>B<td>1<td>2<tr><td>3<td>x', 'AB\n- 1 | 2\n- 3 | x'],
    ['a hidden row', '<tr><th>A<th>B<tr hidden><td>1<td>2<tr><td>3<td>4', '- A: 3; B: 4'],
    [
      'a value over two columns, and a remark over them',
      `<tr><th>Town<th>2024<th>2025<tr><td>Orm<td colspan=2>closed<tr><td>Esk<td colspan=2>${'It was told that nobody was there to count. '.repeat(2)}`,
      `- Town: Orm; 2024: closed; 2025: closed\n- Town: Esk; 2024: ${'It was told that nobody was there to count. '.repeat(2).trim()}`,
    ],
    ['a span without end', '<tr><th>A<th>B<tr><td rowspan=0>x<td>1<tr><td>2', '- A: x; B: 1\n- A: x; B: 2'],
  ])('%s', async (_, rows, text) => {
    expect(await textOf(`<table>${rows}</table>`)).toBe(text);
  });

  test('spans that would fill the memory', async () => {
    const row = `<tr>${'<td colspan=1000 rowspan=65534>x'.repeat(100)}`;
    expect((await textOf(`<table>${row.repeat(200)}<tr><td>end<td>end</table>`)).length).toBeLessThan(
      5_000_000,
    );
  });
});

test.each([
  [
    'definitions',
    '<dl><dt>Orm<dd>Town<dd>River<dt>A<dt>B:<dd><p>One</p><p>Two</p></dl>',
    '- Orm: Town\n  River\n- A, B: One\n\n  Two',
  ],
  [
    'nested lists',
    '<ul><li>a<ul><li>b</ul><li><p>c</p><li><input type=checkbox checked>d</ul>',
    '- a\n  - b\n- c\n- [x] d',
  ],
  [
    'numbers',
    '<ol start=3 type=a><li>x<li value=9>y</ol><ol reversed><li>p<li>q</ol>',
    'c. x\ni. y\n\n2. p\n1. q',
  ],
  ['quotes', '<blockquote><p>A</p><p>B</p></blockquote><p><q>C</q></p>', '> A\n\n> B\n\n“C”'],
  ['code', '<pre>\n a  b\n\n\n# c\n</pre>', 'a  b\n\n\n# c'],
  ['kept space', '<p>x</p><div style="white-space:pre-wrap">a\n  b</div>', 'x\n\na\n  b'],
  ['line ends', 'a<br>b<br><br>c', 'a\nb\n\nc'],
  [
    'powers and notes',
    'H<sub>2</sub>O, 10<sup>6</sup>, 1<sup>st</sup>, so<sup><a href="#n">1</a></sup>',
    'H2O, 10^6, 1st, so[1]',
  ],
  ['struck words', '<s>12</s> <del>11</del> <ins>10</ins>', '~~12~~ ~~11~~ 10'],
  ['ruby', '<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>', '漢字(かんじ)'],
  ['soft hyphens', 'har&shy;bour', 'harbour'],
  [
    'MathML',
    '<math><mfrac><mi>a</mi><mi>b</mi></mfrac><mo>=</mo><msup><mi>x</mi><mn>2</mn></msup></math>',
    '$\\frac{a}{b} = x^{2}$',
  ],
  [
    'TeX in MathML',
    '<math><mi>x</mi><annotation encoding="application/x-tex">x_1</annotation></math>',
    '$x_1$',
  ],
  [
    'KaTeX',
    '<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation encoding="application/x-tex">x</annotation></semantics></math></span><span class=katex-html aria-hidden=true>x</span></span>',
    '$x$',
  ],
  [
    'pictures',
    '<figure><img src=a alt="Map of Orm"><img alt="IMG_12.jpg"><img alt=""><noscript><img alt="Map of Orm"></noscript><figcaption>1904</figcaption></figure>',
    'Map of Orm\n1904',
  ],
  [
    'SVG',
    '<svg><title>icon</title><text>One</text><g><text>Two <tspan>x</tspan></text></g></svg>',
    'One\nTwo x',
  ],
])('%s', async (_, page, text) => {
  // A line at the beginning loses its space.
  expect(await textOf(page)).toBe(text);
});

test('headings are lines, whatever they contain', async () => {
  const { text, headings } = await read(
    '<h1>The <img alt=Weirs><br>of Orm<a class=headerlink>¶</a></h1><ul><li><h3>In a list</h3></ul>',
  );
  expect(text).toBe('# The Weirs of Orm\n\n- In a list');
  expect(headings).toEqual([{ start: 0, level: 1, title: 'The Weirs of Orm' }]);
});

test('XHTML: elements close themselves', async () => {
  expect(
    await textOf(
      '<?xml version="1.0"?><html><head><title/><script/></head><body><p>A<b/></p><![CDATA[B < C]]></body></html>',
    ),
  ).toBe('A\n\nB < C');
});

test('a million elements, nested or not', async () => {
  expect(await textOf(`${'<div>'.repeat(20_000)}deep`)).toBe('deep');
  expect((await textOf('<b>x</b> '.repeat(200_000))).length).toBe(399_999);
});

test('tables nested in spanning headers do not double their text at each level', async () => {
  const nested = (depth: number): string =>
    `<table><tr><th>Berth<th colspan=2>Crowns${depth > 0 ? nested(depth - 1) : ''}</table>`;
  const { text } = await read(nested(24));
  expect(text).toContain('Berth | Crowns');
  expect(text.length).toBeLessThan(4e6);
});
