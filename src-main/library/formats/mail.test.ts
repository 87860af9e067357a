import { burn, type Entry } from '@kenjiuno/msgreader/lib/Burner.js';
import { TypeEnum } from '@kenjiuno/msgreader/lib/Reader.js';
import { describe, expect, test } from 'vitest';
import type { ParsedDocument } from './format.ts';
import { formatOf, parserOf } from './formats.ts';

async function read(name: string, source: string | Buffer): Promise<ParsedDocument> {
  const parser = await parserOf(formatOf(name));
  return await parser({ name, bytes: Buffer.isBuffer(source) ? source : Buffer.from(source) });
}

const HEAD =
  'From: Ida Voss <ida@example.org>\nTo: per@example.org\nSubject: Weir\nDate: Tue, 3 Feb 2026 10:00:00 +0100\n';
const HEAD_TEXT =
  'From: Ida Voss <ida@example.org>\nTo: per@example.org\nDate: Tue, 3 Feb 2026 10:00:00 +0100\nSubject: Weir\n\n';

/** A multipart body. */
function parts(kind: string, boundary: string, ...all: string[]): string {
  return `Content-Type: multipart/${kind}; boundary="${boundary}"\n\n--${boundary}\n${all.join(`\n--${boundary}\n`)}\n--${boundary}--\n`;
}

describe('messages', () => {
  test('in a mailbox, also without a header', async () => {
    const { text } = await read(
      'a.mbox',
      'From ida Mon Jun 01 10:00:00 2009\n\nOne\n\nFrom ida Mon Jun 01 11:00:00 2009\n\nTwo\n',
    );
    expect(text).toBe('# Message 1\n\nOne\n\n# Message 2\n\nTwo');
  });

  test('quoted-printable text', async () => {
    const body =
      'Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\nRaised by 30=C2=A0cm. Gr=C3=BC=C3=9Fe';
    expect(await read('a.eml', `${HEAD}${body}`)).toEqual({
      text: `${HEAD_TEXT}Raised by 30\u00a0cm. Grüße`,
      headings: [],
      title: 'Weir',
      pages: [],
      warnings: [],
    });
  });

  test('attached documents are pages under their names', async () => {
    const text = 'Content-Type: text/plain\n\nSee the plan.';
    const file = (name: string, content: string): string =>
      `Content-Type: application/octet-stream\nContent-Disposition: attachment; filename="${name}"\n` +
      `Content-Transfer-Encoding: base64\n\n${Buffer.from(content).toString('base64')}`;
    const mail = parts(
      'mixed',
      'b',
      text,
      file('plan.html', '<h1>Weir</h1><p>By May.</p>'),
      file('a.png', 'x'),
    );
    const { text: whole, pages, headings, warnings } = await read('a.eml', `${HEAD}${mail}`);
    expect(whole).toBe(`${HEAD_TEXT}See the plan.\n\n# plan.html\n\n## Weir\n\nBy May.`);
    expect(pages.map(({ label, start, end }) => [label, whole.slice(start, end)])).toEqual([
      ['Weir', `${HEAD_TEXT}See the plan.`],
      ['plan.html', '# plan.html\n\n## Weir\n\nBy May.'],
    ]);
    expect(headings?.map(({ level, title }) => [level, title])).toEqual([
      [1, 'plan.html'],
      [2, 'Weir'],
    ]);
    expect(warnings).toEqual(['1 attachment was not read: a.png.']);
    const mailbox = await read('a.mbox', `From ida Tue Feb  3 10:00:00 2026\n${HEAD}${mail}`);
    expect(mailbox.pages.map(({ label }) => label)).toEqual(['Weir', 'plan.html']);
  });

  test('the page rather than the text, attachments named, a forwarded message with its header', async () => {
    const plain = 'Content-Type: text/plain\n\nplain';
    const page = `Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${Buffer.from('<h1>Plan</h1><p hidden>preheader</p><p>Grüße</p>').toString('base64')}`;
    const file = (name: string): string =>
      `Content-Type: application/pdf\nContent-Disposition: attachment; filename="${name}"\n\nx`;
    const inner =
      'Content-Type: message/rfc822\n\nFrom: Per Lund <per@example.org>\nSubject: Inner\n\nInner text';
    const mail = parts(
      'mixed',
      'b1',
      parts('alternative', 'b2', plain, page),
      file('a b.pdf'),
      file('c.pdf'),
      inner,
    );
    const document = await read('a.eml', `${HEAD}${mail}`);
    expect(document.text).toBe(
      `${HEAD_TEXT}# Plan\n\nGrüße\n\nFrom: Per Lund <per@example.org>\nSubject: Inner\nInner text`,
    );
    expect(document.headings).toEqual([{ start: HEAD_TEXT.length, level: 1, title: 'Plan' }]);
    expect(document.warnings).toEqual([
      '2 attachments were not read: a b.pdf, c.pdf.',
      'Hidden text was left out: 1 word.',
    ]);
  });

  test('pictures of the page are not attachments, nor are signatures', async () => {
    const page = 'Content-Type: text/html\n\n<p>Map: <img src="cid:x" alt="weir at Orm"></p>';
    const picture = 'Content-Type: image/png\nContent-ID: <x>\n\nx';
    const signature = 'Content-Type: application/pgp-signature; name="signature.asc"\n\nx';
    const { text, warnings } = await read(
      'a.eml',
      HEAD + parts('signed', 'b1', parts('related', 'b2', page, picture), signature),
    );
    expect(text).toBe(`${HEAD_TEXT}Map: weir at Orm`);
    expect(warnings).toEqual([]);
  });

  test('names and groups in any encoding', async () => {
    const { text, title } = await read(
      'a.eml',
      'From: =?utf-8?Q?J=C3=B6rg?= <j@x.org>\nTo: Team: x@y.z, "Q, R" <q@r.s>;\nCc: c@d.e\nSubject: =?iso-8859-1?Q?Gr=FC=DFe?=\n =?utf-8?B?w7w=?=\n\nx',
    );
    expect(text).toBe('From: Jörg <j@x.org>\nTo: Team: x@y.z, Q, R <q@r.s>\nCc: c@d.e\nSubject: Grüßeü\n\nx');
    expect(title).toBe('Grüßeü');
  });

  test('a body whose encoding is not stated', async () => {
    const body = 'Die Fähre über den Sund fährt täglich, außer an Feiertagen. Größere Schiffe müssen warten.';
    expect((await read('a.eml', Buffer.from(`${HEAD}\n${body}`, 'latin1'))).text).toBe(HEAD_TEXT + body);
  });

  test('an encrypted body', async () => {
    const mail = `${HEAD}Content-Type: application/pkcs7-mime; name=smime.p7m\nContent-Transfer-Encoding: base64\n\nAAAA`;
    expect(await read('a.eml', mail)).toMatchObject({
      text: HEAD_TEXT.trim(),
      warnings: ['1 encrypted message was not read.'],
    });
  });

  test('Apple Mail states the length', async () => {
    const mail = `${HEAD}\nBody`;
    expect((await read('a.emlx', `${mail.length}     \n${mail}<?xml version="1.0"?><plist/>`)).text).toBe(
      `${HEAD_TEXT}Body`,
    );
  });

  test.each([
    ['empty.eml', '', 'DOCUMENT_NO_TEXT'],
    ['noise.eml', '\0\x01 nothing', 'DOCUMENT_UNREADABLE'],
    ['empty.mbox', '', 'DOCUMENT_NO_TEXT'],
    ['empty.mhtml', '', 'DOCUMENT_NO_TEXT'],
    ['cut.msg', Buffer.from(`d0cf11e0a1b11ae1${'00'.repeat(600)}`, 'hex'), 'DOCUMENT_UNREADABLE'],
  ])('%s', async (name, source, code) => {
    await expect(read(name, source)).rejects.toMatchObject({ code });
  });
});

test('mailboxes: a page for each message, below its subject', async () => {
  const box =
    'From a@b.c Tue Feb  3 10:00:00 2026\nFrom: a@b.c\nSubject: One\n\nText\n>From here\n\n' +
    'From d@e.f Tue Feb  3 10:00:00 2026\nFrom: d@e.f\nContent-Type: text/html\n\n<h1>Big</h1><p>x</p>\n';
  const { text, pages, headings } = await read('a.mbox', box);
  expect(text).toBe(
    '# One\n\nFrom: a@b.c\nSubject: One\n\nText\nFrom here\n\n# Message 2\n\nFrom: d@e.f\n\n## Big\n\nx',
  );
  expect(pages.map(({ label }) => label)).toEqual(['One', 'Message 2']);
  expect(headings?.map(({ start }) => text.slice(start).split('\n')[0])).toEqual([
    '# One',
    '# Message 2',
    '## Big',
  ]);
});

test('web pages saved as a message', async () => {
  const page =
    'Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<title>Weir</title><p>Gr=C3=BC=C3=9Fe</p>';
  const mail = `From: <Saved by Blink>\nSubject: Page\n${parts('related', 'b', page, 'Content-Type: text/css\n\np {}', 'Content-Type: image/png\n\nx')}`;
  expect(await read('a.mhtml', mail)).toMatchObject({ text: 'Grüße', title: 'Weir', warnings: [] });
});

describe('Outlook', () => {
  /** A compound file: storages and streams by name. */
  function compound(tree: Readonly<Record<string, unknown>>): Buffer {
    const entries: Entry[] = [{ name: 'Root Entry', type: TypeEnum.ROOT, length: 0, children: [] }];
    const add = (folder: Entry, content: Readonly<Record<string, unknown>>): void => {
      for (const [name, value] of Object.entries(content)) {
        const isFile = Buffer.isBuffer(value);
        const entry: Entry = isFile
          ? {
              name,
              type: TypeEnum.DOCUMENT,
              length: value.length,
              binaryProvider: () => new Uint8Array(value),
            }
          : { name, type: TypeEnum.DIRECTORY, length: 0, children: [] };
        folder.children?.push(entries.push(entry) - 1);
        if (!isFile) add(entry, value as Record<string, unknown>);
      }
    };
    add(entries[0]!, tree);
    return Buffer.from(burn(entries));
  }

  const text = (value: string): Buffer => Buffer.from(value, 'utf16le');
  const message = {
    '__properties_version1.0': Buffer.alloc(32),
    '__substg1.0_001A001F': text('IPM.Note'),
    '__substg1.0_0037001F': text('Weir'),
    '__substg1.0_0C1A001F': text('Ida Voss'),
    '__substg1.0_5D01001F': text('ida@example.org'),
    '__substg1.0_007D001F': text('Received: x\r\nDate: Tue, 3 Feb 2026 10:00:00 +0100\r\n'),
    '__recip_version1.0_#00000000': {
      '__properties_version1.0': Buffer.alloc(8),
      '__substg1.0_3001001F': text('Per Lund'),
      '__substg1.0_39FE001F': text('per@example.org'),
    },
  };

  test('text, people and the names of attachments', async () => {
    const attachment = {
      '__properties_version1.0': Buffer.alloc(8),
      '__substg1.0_3707001F': text('plan.pdf'),
    };
    const source = compound({
      ...message,
      '__substg1.0_1000001F': text('Raised by 30 cm.\r\nGrüße'),
      '__attach_version1.0_#00000000': attachment,
    });
    expect(await read('a.msg', source)).toMatchObject({
      title: 'Weir',
      text: 'From: Ida Voss <ida@example.org>\nTo: Per Lund <per@example.org>\nDate: Tue, 3 Feb 2026 10:00:00 +0100\nSubject: Weir\n\nRaised by 30 cm.\nGrüße',
      warnings: ['1 attachment was not read: plan.pdf.'],
    });
  });

  test('rich text is read if it is the only text', async () => {
    const rtf = String.raw`{\rtf1\ansi Raised by 30 cm.\par}`;
    const packed = Buffer.alloc(16 + rtf.length);
    packed.writeUInt32LE(packed.length - 4, 0);
    packed.writeUInt32LE(rtf.length, 4);
    packed.write('MELA', 8); // not compressed
    packed.write(rtf, 16);
    const document = await read('a.msg', compound({ ...message, '__substg1.0_10090102': packed }));
    expect(document.text).toMatch(/Subject: Weir\n\nRaised by 30 cm\.$/);
    expect(document.warnings).toEqual([]);
  });

  test('an attached document is a page', async () => {
    const attachment = {
      '__properties_version1.0': Buffer.alloc(8),
      '__substg1.0_3707001F': text('plan.md'),
      '__substg1.0_37010102': Buffer.from('By May.'),
    };
    const source = compound({ ...message, '__attach_version1.0_#00000000': attachment });
    expect((await read('a.msg', source)).text).toMatch(/\n\n# plan\.md\n\nBy May\.$/);
  });

  test('a page', async () => {
    const source = compound({ ...message, '__substg1.0_10130102': Buffer.from('<h1>Plan</h1><p>Grüße</p>') });
    expect((await read('a.msg', source)).text).toMatch(/Subject: Weir\n\n# Plan\n\nGrüße$/);
  });

  test('other programs give the extension to text', async () => {
    expect((await read('Point.msg', 'float64 x\nfloat64 y\n')).text).toBe('float64 x\nfloat64 y\n');
  });
});
