import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ParsedDocument } from '../../src-main/library/formats/format.ts';
import { formatOf } from '../../src-main/library/formats/formats.ts';
import { ParserProcess, type ParserLimits } from '../../src-main/library/parser/parser-process.ts';
import { bomb, encryptedPdf, epub, pdf, slides, word, workbook } from './documents.ts';
import { zip } from './zip.ts';

const MiB = 1024 * 1024;
let dir: string;
let parser: ParserProcess;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'kvasir-formats-'));
  parser = new ParserProcess();
});
afterAll(() => {
  parser.close();
  rmSync(dir, { recursive: true, force: true });
});

async function parse(name: string, bytes: Buffer | string, by = parser): Promise<ParsedDocument> {
  const path = join(dir, name);
  writeFileSync(path, bytes);
  const request = { path, name, format: formatOf(name), maxBytes: 64 * MiB, knownSha256: undefined };
  const outcome = await by.parse(request);
  if (outcome.kind !== 'parsed') throw new Error('not parsed');
  return outcome.document;
}

/** The content of each page, by its label. */
function pagesOf({ text, pages }: ParsedDocument): [string, string][] {
  return pages.map(({ label, start, end }) => [label, text.slice(start, end)]);
}

describe('extracted text', () => {
  test('PDF: pages, paragraphs, a word divided at a line end, pages without text', async () => {
    const document = await parse(
      'a.pdf',
      await pdf([
        ['The harbour is', 'deep enough for every har-', 'bour tug.', '', '', 'A new paragraph.'],
        [],
        ['Third.'],
      ]),
    );
    expect(pagesOf(document)).toEqual([
      ['1', 'The harbour is\ndeep enough for every harbour tug.\n\nA new paragraph.'],
      ['2', ''],
      ['3', 'Third.'],
    ]);
    expect(document.warnings).toEqual(['Pages without text: 2.']);
  });

  test('PDF: hyphens that belong to a word stay', async () => {
    const { text } = await parse(
      'hyphens.pdf',
      await pdf([
        [
          'It is written left-to-',
          'right, by a well-',
          'known keeper of self-organi-',
          'zation. Words to the',
          'right are well-known.',
        ],
      ]),
    );
    expect(text).toBe(
      'It is written left-to-right, by a well-known keeper of self-organization. Words to the\nright are well-known.',
    );
  });

  test('PDF: running headers and page numbers do not interrupt sentences', async () => {
    const lines = (page: number): string[] => [
      `Harbour rules ${page}`,
      ...Array.from({ length: 3 }, (_, i) => `Rule ${page}.${i} is that boat number ${page * 3 + i}`),
      `- ${page} -`,
    ];
    const { text, pages } = await parse('running.pdf', await pdf([1, 2, 3, 4].map(lines)));
    expect(text.match(/Harbour rules/g)).toHaveLength(1);
    expect(text).not.toMatch(/- \d -/);
    expect(text.match(/Rule/g)).toHaveLength(12);
    expect(text.slice(pages[2]?.start).startsWith('Rule 3.0')).toBe(true);
  });

  test('PDF: code keeps its indentation, and its hyphens', async () => {
    const code = ['if moored:', '    pay(12)', '    for boat in fleet-', '        row(boat)'];
    const { text } = await parse('code.pdf', await pdf([code], '', { font: 'Courier' }));
    expect(text).toBe(code.join('\n'));
    expect((await parse('prose.pdf', await pdf([['   Not code']]))).text).toBe('Not code');
  });

  test('PDF: its own title, else the file name', async () => {
    expect((await parse('b.pdf', await pdf([['x']], 'Harbour rules'))).title).toBe('Harbour rules');
    expect((await parse('c.pdf', await pdf([['x']], 'c.doc'))).title).toBe('c');
  });

  test('Word: headings, lists and tables', async () => {
    const { text, title } = await parse('a.docx', await word());
    expect(title).toBe('Harbour handbook');
    expect(text).toBe(
      '# Harbour handbook\n\nThe harbour office opens at seven. Every ship pays at the red counter.\n\n## Tariffs\n\n' +
        'A sailing boat pays twelve crowns a night.\n\n- Bring the papers\n\n- Berth: North pier; Crowns: 40',
    );
  });

  test('PowerPoint: slides in order with their notes', async () => {
    const document = await parse('a.pptx', await slides());
    expect(pagesOf(document)).toEqual([
      ['1', '## Lighthouse plan\n\nThe lamp is changed in October.\n\nNotes: Ask Mara about the ladder.'],
      ['2', '## Costs\n\nThe new lamp costs nine hundred crowns.'],
    ]);
    expect(document.title).toBe('Lighthouse plan');
  });

  test('Excel: every row names its columns', async () => {
    expect(pagesOf(await parse('a.xlsx', await workbook()))).toEqual([
      [
        'Ships',
        '## Ships\n\n- Name: Aurora; Built: 1987-05-01; Crew: 12\n- Name: Borealis; Built: 1999-01-09; Crew: 7',
      ],
      ['Notes', '## Notes\n\n- Aurora is being painted.'],
    ]);
  });

  test('EPUB: sections listed with a fragment are found in their file, and none is missed', async () => {
    const html = '<h1>Lamps</h1><p>The keeper trims them.</p><h2 id="b">Oil</h2><p>It comes by boat.</p>';
    const document = await parse(
      'a.epub',
      epub([
        { file: 'one.xhtml', html },
        { file: 'one.xhtml#b', html: '' },
      ]),
    );
    expect(document.warnings).toEqual([]);
    expect(document.pages).toHaveLength(1);
    expect(document.text.match(/It comes by boat/g)).toHaveLength(1);
  });

  test('EPUB: chapters in reading order', async () => {
    const book = epub([
      { file: 'two.xhtml', html: '<html><body><h1>Night</h1><p>The lamp went out.</p></body></html>' },
      {
        file: 'a%20b.xhtml',
        html: '<html><head><title>Day</title></head><body><p>It came back.</p></body></html>',
      },
    ]);
    const document = await parse('a.epub', book);
    expect(document.title).toBe('The Keeper');
    expect(pagesOf(document)).toEqual([
      ['Night', '# Night\n\nThe lamp went out.'],
      ['Day', 'It came back.'],
    ]);
  });

  test('HTML: the main text, neither scripts nor navigation', async () => {
    const page = `<html><head><title>Tides &amp; winds</title><style>p{}</style></head><body><nav>Home</nav>
      <main><h2>Spring</h2><p>High   water at <a href="http://x.invalid/">noon</a>.</p><script>alert(1)</script>
      <table><tr><th>Day</th><th>Hour</th></tr><tr><td>Mon</td><td>12</td></tr></table><ul><li>one</li></ul></main></body></html>`;
    expect(await parse('a.html', page)).toMatchObject({
      title: 'Tides & winds',
      text: '## Spring\n\nHigh water at noon.\n\n- Day: Mon; Hour: 12\n\n- one',
    });
  });

  test('mail, of both kinds of file', async () => {
    expect((await parse('a.eml', 'From: Mara <m@x.org>\nSubject: Tides\n\nHigh water at noon.')).text).toBe(
      'From: Mara <m@x.org>\nSubject: Tides\n\nHigh water at noon.',
    );
    await expect(
      parse('a.msg', Buffer.from(`d0cf11e0a1b11ae1${'00'.repeat(600)}`, 'hex')),
    ).rejects.toMatchObject({
      code: 'DOCUMENT_UNREADABLE',
    });
  });

  test('HTML in its declared encoding', async () => {
    const page = Buffer.from('<meta charset="iso-8859-1"><p>caf\xe9', 'latin1');
    expect((await parse('latin.html', page)).text).toBe('café');
  });

  describe('headings follow the format', () => {
    const headingsOf = ({ text, headings }: ParsedDocument): [number, string, string][] =>
      (headings ?? []).map(({ start, level, title }) => [
        level,
        title,
        text.slice(start).split('\n')[0] ?? '',
      ]);

    test('HTML: its elements, without permalink signs; no line that begins with a #', async () => {
      const page = `<h1>Shell<a class="headerlink" href="#s">¶</a></h1><pre># rm is final\n#2 too</pre><h3>Use</h3><p>x</p>`;
      const document = await parse('h.html', page);
      expect(headingsOf(document)).toEqual([
        [1, 'Shell', '# Shell'],
        [3, 'Use', '### Use'],
      ]);
      expect(document.text).toContain('# rm is final');
    });

    test('Word, PowerPoint, Excel: styles, titles, sheets', async () => {
      expect(headingsOf(await parse('h.docx', await word())).map(([level, title]) => [level, title])).toEqual(
        [
          [1, 'Harbour handbook'],
          [2, 'Tariffs'],
        ],
      );
      expect(headingsOf(await parse('h.pptx', await slides())).map(([, title]) => title)).toEqual([
        'Lighthouse plan',
        'Costs',
      ]);
      expect(headingsOf(await parse('h.xlsx', await workbook()))).toEqual([
        [2, 'Ships', '## Ships'],
        [2, 'Notes', '## Notes'],
      ]);
    });

    test('EPUB: of each chapter, nested as in the book', async () => {
      const chapter = (title: string): string =>
        `<html><body><h1>${title}</h1><p># no heading</p></body></html>`;
      const book = epub([
        { file: 'a.xhtml', html: chapter('Night') },
        { file: 'b.xhtml', html: chapter('Day') },
      ]);
      expect(headingsOf(await parse('h.epub', book))).toEqual([
        [1, 'Night', '# Night'],
        [1, 'Day', '# Day'],
      ]);
    });

    test('PDF: the lines that bookmarks name', async () => {
      const bookmarks = [
        { title: '1 Getting started', page: 0 },
        { title: 'Not in the text', page: 0 },
        { title: 'Upkeep', page: 1 },
      ];
      const pages = [
        ['Getting started', '# a comment', 'Text.'],
        ['Upkeep', 'More text.'],
      ];
      expect(headingsOf(await parse('h.pdf', await pdf(pages, '', { bookmarks })))).toEqual([
        [1, '1 Getting started', 'Getting started'],
        [1, 'Upkeep', 'Upkeep'],
      ]);
    });

    test('PDF without bookmarks: lines in larger letters, the largest outermost', async () => {
      const pages = [
        ['Harbour', 'All boats pay.', '# a comment'],
        ['Tariffs', 'Twelve crowns.'],
      ];
      const size = (line: string): number => (line === 'Harbour' ? 20 : line === 'Tariffs' ? 15 : 12);
      expect(headingsOf(await parse('i.pdf', await pdf(pages, '', { size })))).toEqual([
        [1, 'Harbour', 'Harbour'],
        [2, 'Tariffs', 'Tariffs'],
      ]);
    });

    test('plain text has none; Markdown has its own marks', async () => {
      expect((await parse('h.txt', 'One\n\n# two\n')).headings).toEqual([]);
      expect((await parse('h.md', '# two\n')).headings).toBeUndefined();
    });
  });

  test('CSV with separators, quotes and line ends inside', async () => {
    const { text, warnings } = await parse('a.csv', 'name;place\n"Lind; Mara";"Oslo\nNorway"\nJon;\n');
    expect(text).toBe('- name: Lind; Mara; place: Oslo Norway\n- name: Jon');
    expect(warnings).toEqual([]);
  });

  test('JSON in one line is formatted; invalid JSON is read unchanged', async () => {
    expect((await parse('a.json', '{"name":"Mara","at":["Oslo"]}')).text).toBe(
      '{\n "name": "Mara",\n "at": [\n  "Oslo"\n ]\n}',
    );
    expect((await parse('b.json', '{"name":')).text).toBe('{"name":');
  });

  test('Markdown and source code unchanged', async () => {
    expect(await parse('a.md', '# *Deep* water\r\n\r\ntext')).toMatchObject({
      title: 'Deep water',
      text: '# *Deep* water\n\ntext',
    });
    expect(await parse('a.py', '# not a title\nx = 1\n')).toMatchObject({
      title: 'a',
      text: '# not a title\nx = 1\n',
    });
  });

  const german =
    'Die Fähre über den Sund fährt täglich, außer an Feiertagen. Größere Schiffe müssen warten. '.repeat(5);
  const russian =
    'Паром отправляется каждый день, кроме праздников. Большие суда должны ждать у причала. '.repeat(5);
  const chinese = '渡轮每天都开，节假日除外。较大的船必须等待。港口办公室七点开门。'.repeat(5);
  const japanese =
    'フェリーは毎日運航していますが、祝日は除きます。大きな船は待たなければなりません。'.repeat(5);
  test.each([
    ['utf8', german],
    ['utf-8 with a mark', `\ufeff${chinese}`],
    ['utf16-le', `\ufeff${russian}`],
    ['utf16-be', `\ufeff${german}`],
    ['utf16-le', german], // without a byte order mark
    ['windows-1252', german],
    ['windows-1251', russian],
    ['koi8-r', russian],
    ['gb18030', chinese],
    ['big5', chinese.replaceAll('较', '')],
    ['shift_jis', japanese],
    ['euc-jp', japanese],
  ])('text in %s', async (encoding, text) => {
    const bytes = iconv.encode(text, encoding.startsWith('utf-8') ? 'utf8' : encoding, { addBOM: false });
    const read = await parse('encoded.txt', bytes);
    expect(read.text).toBe(
      iconv.decode(bytes, encoding.startsWith('utf-8') ? 'utf8' : encoding).replace('\ufeff', ''),
    );
  });
});

describe('unusable documents', () => {
  const ole = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(600)]);
  const cipher =
    '<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/a.xhtml"/></CipherData></EncryptedData></encryption>';
  test.each([
    ['locked.pdf', 'DOCUMENT_ENCRYPTED', () => encryptedPdf()],
    ['scan.pdf', 'DOCUMENT_NO_TEXT', () => pdf([[], []])],
    ['noise.pdf', 'DOCUMENT_UNREADABLE', () => Buffer.from('%PDF-1.7 and then nothing of the kind')],
    ['empty.pdf', 'DOCUMENT_NO_TEXT', () => Buffer.alloc(0)],
    ['empty.txt', 'DOCUMENT_NO_TEXT', () => Buffer.from(' \n')],
    ['empty.md', 'DOCUMENT_NO_TEXT', () => Buffer.alloc(0)],
    ['empty.json', 'DOCUMENT_NO_TEXT', () => Buffer.alloc(0)],
    ['locked.docx', 'DOCUMENT_ENCRYPTED', () => ole],
    ['locked.xlsx', 'DOCUMENT_ENCRYPTED', () => ole],
    ['cut.docx', 'DOCUMENT_UNREADABLE', async () => (await word()).subarray(0, 3000)],
    ['other.docx', 'DOCUMENT_UNREADABLE', () => workbook()],
    ['other.xlsx', 'DOCUMENT_UNREADABLE', () => word()],
    ['broken.docx', 'DOCUMENT_UNREADABLE', () => zip([{ name: 'word/document.xml', data: '<w:document' }])],
    [
      'locked.epub',
      'DOCUMENT_ENCRYPTED',
      () => epub([{ file: 'a.xhtml', html: '<p>x' }], 'x', { encryption: cipher }),
    ],
    [
      'flagged.docx',
      'DOCUMENT_ENCRYPTED',
      () => zip([{ name: 'word/document.xml', data: 'x', encrypted: true }]),
    ],
    ['empty.pptx', 'DOCUMENT_UNREADABLE', () => zip([])],
    ['bomb.docx', 'DOCUMENT_TOO_LARGE', () => bomb(80 * MiB)],
    ['liar.docx', 'DOCUMENT_TOO_LARGE', () => bomb(80 * MiB, 1000)],
    ['empty.html', 'DOCUMENT_NO_TEXT', () => Buffer.from('<script>1</script>')],
    ['empty.csv', 'DOCUMENT_NO_TEXT', () => Buffer.from('\n\n')],
    ['picture.txt', 'DOCUMENT_UNSUPPORTED', () => Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 0, 1])],
    ['program', 'DOCUMENT_UNSUPPORTED', () => Buffer.from('\x7fELF\x02\x01\x01\0\0\0\0')],
  ])('%s: %s', async (name, code, make) => {
    await expect(parse(name, await make())).rejects.toMatchObject({
      code,
      message: expect.stringContaining(name) as string,
    });
  });

  test('a file larger than the limit is not read', async () => {
    writeFileSync(join(dir, 'big.txt'), 'x'.repeat(2000));
    const request = { path: join(dir, 'big.txt'), name: 'big.txt', format: 'txt', knownSha256: undefined };
    await expect(parser.parse({ ...request, maxBytes: 1000 })).rejects.toMatchObject({
      code: 'DOCUMENT_TOO_LARGE',
    });
  });

  test('a deleted file', async () => {
    const request = {
      path: join(dir, 'none.txt'),
      name: 'none.txt',
      format: 'txt',
      maxBytes: 1,
      knownSha256: undefined,
    };
    await expect(parser.parse(request)).rejects.toMatchObject({
      code: 'DOCUMENT_UNREADABLE',
      message: 'none.txt cannot be read (ENOENT).',
    });
  });

  test('HTML crafted to be slow is read in time', async () => {
    const deep = '<div>'.repeat(50_000) + 'deep' + '</div>'.repeat(50_000);
    const blanks = `<p>${' '.repeat(300_000)}x</p>`;
    const open = '<a href="'.repeat(100_000);
    for (const page of [deep, blanks, open, '<'.repeat(300_000), `<meta ${'charset '.repeat(50_000)}`]) {
      await parse('slow.html', `<p>start</p>${page}`).catch((error: unknown) =>
        expect(error).toMatchObject({ code: expect.stringMatching(/^DOCUMENT_/) as string }),
      );
    }
  });
});

describe('the parser process', () => {
  const limited = (limits: Partial<ParserLimits>): ParserProcess => {
    const made = new ParserProcess(limits);
    onTestFinished(() => made.close());
    return made;
  };

  test('the same bytes are not parsed again', async () => {
    writeFileSync(join(dir, 'same.txt'), 'same');
    const request = { path: join(dir, 'same.txt'), name: 'same.txt', format: 'txt', maxBytes: MiB };
    const { sha256 } = await parser.parse({ ...request, knownSha256: undefined });
    expect(await parser.parse({ ...request, knownSha256: sha256 })).toEqual({ kind: 'unchanged', sha256 });
  });

  test('a document that takes too long is aborted, and the next one is read', async () => {
    const hasty = limited({ timeoutMs: 1 });
    await expect(parse('slow.docx', await word(), hasty)).rejects.toMatchObject({
      code: 'DOCUMENT_TIMEOUT',
      message: expect.stringContaining('slow.docx') as string,
    });
    await expect(parse('a.md', 'x', limited({}))).resolves.toMatchObject({ text: 'x' });
  });

  test('a document that exhausts memory is aborted, and the next one is read', async () => {
    const small = limited({ maxMemoryBytes: 96 * MiB });
    const rows = Array.from({ length: 400_000 }, (_, i) => `name ${i},place ${i},street ${i}`).join('\n');
    await expect(parse('large.csv', rows, small)).rejects.toMatchObject({ code: 'DOCUMENT_MEMORY' });
    await expect(parse('a.md', 'x', small)).resolves.toMatchObject({ text: 'x' });
  });

  test('a crash is blamed on the current document only', async () => {
    let children = 0;
    const { spawnParser } = await import('../../src-main/library/parser/spawn.ts');
    const crashing = new ParserProcess({}, (options) => {
      const child = spawnParser(options);
      if (children++ === 0) child.once('spawn', () => child.kill('SIGSEGV'));
      return child;
    });
    onTestFinished(() => crashing.close());
    await expect(parse('a.md', 'x', crashing)).rejects.toMatchObject({ code: 'DOCUMENT_UNREADABLE' });
    await expect(parse('b.md', 'y', crashing)).resolves.toMatchObject({ text: 'y' });
    expect(children).toBe(2);
  });

  test('bytes are read like a file with the same content', async () => {
    const bytes = await pdf([['A page.'], ['Another.']]);
    const request = { path: '', bytes, name: 'sent.pdf', format: 'pdf', knownSha256: undefined };
    const outcome = await parser.parse({ ...request, maxBytes: MiB });
    expect(outcome).toMatchObject({ kind: 'parsed', document: await parse('sent.pdf', bytes) });
    const refused = parser.parse({ ...request, maxBytes: bytes.length - 1 });
    await expect(refused).rejects.toMatchObject({ code: 'DOCUMENT_TOO_LARGE' });
  });

  test('stopping ends it immediately', async () => {
    const abort = new AbortController();
    const request = {
      path: join(dir, 'a.md'),
      name: 'a.md',
      format: 'md',
      maxBytes: MiB,
      knownSha256: undefined,
    };
    const reading = limited({}).parse(request, abort.signal);
    abort.abort();
    await expect(reading).rejects.toMatchObject({ code: 'ABORTED' });
  });

  test('it cannot write files or start programs', async () => {
    const { spawnParser } = await import('../../src-main/library/parser/spawn.ts');
    const child = spawnParser({ maxMemoryBytes: 512 * MiB });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(child.spawnargs).toContain('--permission');
    expect(child.spawnargs.filter((flag) => flag.startsWith('--allow'))).toEqual([
      '--allow-fs-read=*',
      '--allow-worker',
    ]);
  });

  test('remains of one document do not affect the next one', async () => {
    let children = 0;
    const { spawnParser } = await import('../../src-main/library/parser/spawn.ts');
    const late = new ParserProcess({}, (options) => {
      const child = spawnParser(options);
      const send = child.send.bind(child) as (message: object, sent: () => void) => boolean;
      let sent = 0;
      // The child exits at its second document, as if the first had corrupted it.
      if (children++ === 0)
        child.send = ((message: object, done: () => void) => {
          if (++sent === 2) child.kill('SIGSEGV');
          return send(message, done);
        }) as typeof child.send;
      return child;
    });
    onTestFinished(() => late.close());
    await expect(parse('a.md', 'x', late)).resolves.toMatchObject({ text: 'x' });
    await expect(parse('b.md', 'y', late)).resolves.toMatchObject({ text: 'y' });
    expect(children).toBe(2);
  });

  /** Runs a module's text the way the parser's process would run it. */
  const inParser = (text: string, from: string[] = []): ChildProcess =>
    spawn(
      process.execPath,
      [
        ...from,
        '--permission',
        '--allow-fs-read=*',
        '--allow-worker',
        '--input-type=module',
        '-e',
        text,
        'x',
        '1e12',
      ],
      { stdio: ['ignore', 'pipe', 'inherit'], env: { SECRET: 'x' } },
    );
  const PARSER = JSON.stringify(new URL('../../src-main/library/parser/', import.meta.url).href).slice(1, -1);

  test('an unhandled rejection in a parser does not end it', async () => {
    // The worker takes requests only over a channel, so the rejection is injected at its start.
    const child = inParser(`await import('${PARSER}worker.ts'); Promise.reject(new Error('forgotten'));
      setTimeout(() => { console.log('alive'); process.exit(0); }, 300);`);
    let text = '';
    child.stdout?.on('data', (part: Buffer) => (text += part.toString()));
    await once(child, 'close');
    expect(text).toBe('alive\n');
  });

  test('it has neither network access nor our environment', async () => {
    const child = inParser(`const { confine } = await import('${PARSER}confine.ts'); confine();
      const net = await import('node:net');
      const refused = [];
      for (const attempt of [() => net.connect(9), () => fetch('http://127.0.0.1:48999'), () => import('node:http').then((http) => http.get('http://127.0.0.1:48999'))])
        try { await attempt(); } catch (error) { refused.push(String(error.cause ?? error)); }
      console.log(JSON.stringify({ refused, secret: process.env.SECRET ?? null }));
      process.exit(0);`);
    const [text] = (await once(child.stdout!, 'data')) as [Buffer];
    const { refused, secret } = JSON.parse(text.toString()) as { refused: string[]; secret: unknown };
    expect(refused).toHaveLength(3);
    for (const why of refused) expect(why).toContain('this process refuses them');
    expect(secret).toBeNull();
  });

  test('it does not outlive a parent that was killed, however busy it is', async () => {
    const busy = `import('${PARSER}watchdog.ts').then(({ startWatchdog }) => {
      startWatchdog(1e12); setTimeout(() => { for (;;); }, 200); });`;
    const parent = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `import { spawn } from 'node:child_process';
         const child = spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(busy)}], { stdio: 'ignore' });
         setTimeout(() => console.log(child.pid), 1000); setInterval(() => {}, 1000);`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    const [pid] = (await once(parent.stdout, 'data')) as [Buffer];
    const isAlive = (): boolean => {
      try {
        return process.kill(Number(pid), 0);
      } catch {
        return false;
      }
    };
    expect(isAlive()).toBe(true);
    parent.kill('SIGKILL');
    await expect.poll(isAlive).toBe(false);
  });
});
