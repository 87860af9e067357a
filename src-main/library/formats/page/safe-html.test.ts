import { describe, expect, test } from 'vitest';
import { descendants, isElement, parseHtml } from '../html/nodes.ts';
import { markPassage } from './mark-passage.ts';
import { safeHtml } from './safe-html.ts';

const PICTURE = 'data:image/png;base64,iVBORw0KGgo=';

function safe(html: string, passage?: string): string {
  const { pieces } = safeHtml(parseHtml(html, false));
  return markPassage(pieces, passage === undefined ? undefined : { text: passage, near: 0 }).html;
}

/** Each tries to run a script, load something or leave the page. */
const HOSTILE = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="http://127.0.0.1:9/x.png" srcset="http://127.0.0.1:9/y.png 2x" alt="a">',
  '<a href="javascript:alert(1)">x</a><a href="http://127.0.0.1:9/">y</a><a href="#x" onclick="a()" target="_top">z</a>',
  '<iframe src="http://127.0.0.1:9/"></iframe><frame src=x><embed src=x><object data=x><applet code=x></applet></object>',
  '<meta http-equiv=refresh content="0;url=http://127.0.0.1:9/"><base href="http://127.0.0.1:9/"><link rel=stylesheet href=//127.0.0.1:9/x.css>',
  '<style>@import url(http://127.0.0.1:9/x.css);</style><p style="background:url(http://127.0.0.1:9/)">x</p>',
  '<svg><script>alert(1)</script><use href="http://127.0.0.1:9/#x"/><foreignObject><img src=x onerror=alert(1)></foreignObject></svg>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>',
  '<form action="http://127.0.0.1:9/"><form><input type=image src=x formaction=javascript:alert(1)><button>go</button></form>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<template><img src=x onerror=alert(1)></template><portal src=x></portal><video src=x poster=x><source src=x></video>',
  '<img src="data:text/html,<script>alert(1)</script>"><img src="data:image/svg+xml;base64,PHN2Zz4=">',
  `<img src='${PICTURE}" onerror="alert(1)'>`,
  '<p title="&quot; onclick=&quot;alert(1)">x</p><p id=\'"><script>alert(1)</script>\'>x</p>',
  '<textarea><img src=x onerror=alert(1)></textarea><title><img src=x onerror=alert(1)></title><xmp><img src=x onerror=alert(1)></xmp>',
  '<!-- <img src=x> --!><img src=x onerror=alert(1)><!-- unclosed <img src=x onerror=alert(1)>',
  '<![CDATA[<img src=x onerror=alert(1)>]]>&lt;script&gt;alert(1)&lt;/script&gt;<a xlink:href="javascript:alert(1)">x</a>',
  '<p lang="en&quot;onclick" dir="evil" colspan="9999999" start="1e9" width="100%">x</p>',
  '<plaintext><img src=x onerror=alert(1)>',
];
const NAMES = new Set(
  'alt colspan dir height lang rowspan start title type value width id href src open class'.split(' '),
);

describe('of a hostile page', () => {
  test.each(HOSTILE)('%s nothing is left that acts', (html) => {
    const elements = [...descendants(parseHtml(safe(html), false))].filter(isElement);
    for (const { name, attribs } of elements) {
      expect(name).toMatch(/^(?:a|img|p|table|span|td|tr|tbody|b|section)$/);
      for (const [attribute, value] of Object.entries(attribs)) {
        expect(NAMES).toContain(attribute);
        if (attribute === 'href') expect(value).toMatch(/^#d-/);
        if (attribute === 'src') expect(value).toBe(PICTURE);
        if (attribute === 'class') expect(value).toBe('picture');
      }
    }
  });

  test('all of it at once, in every order of two, is still only what is listed', () => {
    for (const first of HOSTILE)
      for (const second of HOSTILE) {
        const html = safe(`${first}${second}`);
        expect(html).not.toMatch(
          /<(?:script|style|iframe|svg|math|form|meta|base|link|object|embed|template)/i,
        );
        expect(html).not.toMatch(/<[^>]*\son\w+\s*=\s*(?!&quot;)[^"]*>/i);
        expect(html.replaceAll(/&[^;]+;/g, '')).not.toMatch(/<[^>]*127\.0\.0\.1/);
      }
  });

  test('text stays text', () => {
    expect(safe('<p>1 &lt; 2 &amp;&amp; "a" &gt; b</p>')).toBe(
      '<p>1 &lt; 2 &amp;&amp; &quot;a&quot; &gt; b</p>',
    );
  });
});

test('a page keeps its structure, its pictures and its links within itself', () => {
  const html = `<h2 id="one">One</h2><table><tr><th colspan="2">A</th></tr><tr><td>1</td><td>2</td></tr></table>
    <ol start="3"><li><b>bold</b></ol><img src="${PICTURE}" alt="A lamp"><a href="#one">back</a><custom>kept</custom>`;
  expect(safe(html).replaceAll(/\n\s*/g, '')).toBe(
    `<h2 id="d-one">One</h2><table><tr><th colspan="2">A</th></tr><tr><td>1</td><td>2</td></tr></table>` +
      `<ol start="3"><li><b>bold</b></li></ol><img alt="A lamp" src="${PICTURE}"><a href="#d-one">back</a>kept`,
  );
});

test('what a browser would not show is left out, and a picture elsewhere is named', () => {
  const html = `<style>.x { display: none }</style><p class="x">secret</p><p hidden>secret</p><p style="display:none">secret</p>
    <img src="https://example.com/a.png" alt="The quay"><math><mi>x</mi></math>`;
  const page = safe(html);
  expect(page).not.toContain('secret');
  expect(page).toContain('<span class="picture">The quay</span>');
  expect(page).toContain('$x$');
});

test('very deep and very long pages end', () => {
  const deep = safe(`${'<div><b>'.repeat(20_000)}words`);
  expect(deep).toContain('words');
  expect(deep.match(/<div>/g)?.length).toBeLessThan(200);
  const { pieces, isCut } = safeHtml(parseHtml('<p>ten letters</p>'.repeat(250_000), false));
  expect(isCut).toBe(true);
  expect(pieces.at(-1)).toEqual({ tag: '</p>' });
});

test('a passage is marked, its first element with the id that the frame scrolls to', () => {
  const html = '<p id="passage">The <b>keeper trims</b> the lamp.</p><p>At dusk he rows home.</p>';
  expect(safe(html, 'keeper trims the lamp.\n\nAt dusk')).toBe(
    '<p id="d-passage">The <b><mark id="passage">keeper trims</mark></b><mark> the lamp.</mark></p>' +
      '<p><mark>At dusk</mark> he rows home.</p>',
  );
});
