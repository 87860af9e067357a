import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { decode } from './decode.ts';

/** The encodings in which documents of a language are met, and a text in it. */
const TEXTS: readonly (readonly [encodings: string, text: string])[] = [
  [
    'windows-1252 iso-8859-15 macroman cp850 cp437',
    'Die Brücke über die Esk ist gesperrt. Größe: 40 m. Müller prüft die Höhe der Schleuse jährlich; für Ämter gilt die Öffnungszeit.',
  ],
  [
    'windows-1252 macroman',
    'Le pont à côté de l’école est fermé. La façade a été repeinte au mois d’août, très tôt, près de la forêt où les élèves dînent.',
  ],
  [
    'windows-1252 macroman cp850 cp437',
    'El puente está cerrado. ¿Cuándo abrirá? La señora Muñoz llegó mañana con el camión y pidió más información.',
  ],
  [
    'windows-1252 macroman cp850',
    'A ponte não está aberta. A manutenção das máquinas começará amanhã; os cidadãos não têm informações.',
  ],
  [
    'windows-1252 macroman cp850',
    'Bron över ån är stängd. Måndag är första dagen på året då både färjan och tåget går.',
  ],
  [
    'windows-1252 macroman cp850',
    'Broen over åen er lukket. Børnene på øen får ikke brød før lørdag, og færgen går først på søndag.',
  ],
  [
    'windows-1250 iso-8859-2 cp852 maccenteuro',
    'Most jest zamknięty. Zażółć gęślą jaźń; wójt mówił, że później łódź będzie pływać częściej.',
  ],
  [
    'windows-1250 iso-8859-2 cp852 maccenteuro',
    'Most je uzavřen. Příliš žluťoučký kůň úpěl ďábelské ódy; řeka teče pod městem.',
  ],
  [
    'windows-1250 iso-8859-2 cp852',
    'A híd le van zárva. Árvíztűrő tükörfúrógép; a városi hivatal szerint jövő héten újra megnyitják.',
  ],
  [
    'windows-1254 cp857 macturkish',
    'Köprü kapalı. Şehirdeki çocuklar okula yürüyerek gidiyor; yağmur yüzünden ırmağın suyu çok yükseldi.',
  ],
  [
    'windows-1257',
    'Tiltas uždarytas. Vaikai eina į mokyklą pėsčiomis; šiandien upės vanduo labai pakilo, o žmonės laukia žinių.',
  ],
  [
    'windows-1251 koi8-r cp866 iso-8859-5 maccyrillic',
    'Мост закрыт. Дети идут в школу пешком; сегодня вода в реке сильно поднялась, и люди ждут новостей.',
  ],
  [
    'windows-1251 koi8-u',
    'Міст закрито. Діти йдуть до школи пішки; сьогодні вода в річці дуже піднялася, і люди чекають новин.',
  ],
  [
    'windows-1253 iso-8859-7 cp737 macgreek',
    'Η γέφυρα είναι κλειστή. Τα παιδιά πηγαίνουν στο σχολείο με τα πόδια, σήμερα το νερό ανέβηκε πολύ.',
  ],
  [
    'windows-1255 iso-8859-8 cp862',
    'הגשר סגור. הילדים הולכים לבית הספר ברגל; היום עלו מי הנהר מאוד, ואנשים מחכים לחדשות מן העיר.',
  ],
  [
    'windows-1256 iso-8859-6',
    'الجسر مغلق. يذهب الأطفال إلى المدرسة سيرا على الأقدام، واليوم ارتفع ماء النهر كثيرا وينتظر الناس أخبار المدينة.',
  ],
  ['windows-874', 'สะพานปิด เด็กๆ เดินไปโรงเรียน วันนี้น้ำในแม่น้ำสูงขึ้นมาก และผู้คนรอข่าวจากเมือง'],
  [
    'shift_jis euc-jp',
    '橋は閉まっています。子どもたちは歩いて学校へ行きます。カメラとレンズの大きさは四十メートルです。',
  ],
  ['gb18030', '桥已经关闭。孩子们走路去学校；今天河水涨得很高，人们在等城里的消息。'],
  ['big5', '橋已經關閉。孩子們走路去學校；今天河水漲得很高，人們在等城裡的消息。'],
  ['euc-kr', '다리는 닫혀 있습니다. 아이들은 걸어서 학교에 갑니다. 오늘은 강물이 많이 불었습니다.'],
];

const CASES = TEXTS.flatMap(([encodings, text]) =>
  encodings.split(' ').map((encoding) => [encoding, text] as const),
);

function read(bytes: Buffer | string): [text: string, ...warnings: string[]] {
  const { text, warnings } = decode(Buffer.from(bytes as Buffer), 'a.txt');
  return [text, ...warnings];
}

test.each(CASES)('%s: %s', (encoding, text) => {
  const bytes = iconv.encode(text, encoding);
  expect(iconv.decode(bytes, encoding)).toBe(text); // the encoding has these letters
  expect(read(bytes)[0]).toBe(text);
});

test.each(['utf16-le', 'utf16-be', 'utf32-le', 'utf32-be'])(
  '%s, with a byte-order mark and without',
  (encoding) => {
    for (const [, text] of TEXTS) {
      for (const addBOM of [true, false]) {
        expect(read(iconv.encode(text, encoding, { addBOM }))).toEqual([text]);
        expect(read(iconv.encode(text.slice(0, 7), encoding, { addBOM }))).toEqual([text.slice(0, 7)]);
      }
    }
  },
);

describe('ISO-2022', () => {
  test('Japanese', () => {
    expect(read('\x1b$B66\x1b(B abc')).toEqual(['橋 abc']);
  });

  test('Korean', () => {
    const wide = iconv.encode('다리는', 'euc-kr').toString('latin1');
    const narrow = wide.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(byte.charCodeAt(0) & 0x7f));
    expect(read(`\x1b$)C\x0e${narrow}\x0f ok\n\x0e${narrow}\x0f`)).toEqual(['다리는 ok\n다리는']);
  });
});

describe('a guess', () => {
  test('from few letters is named', () => {
    const [text, warning] = read(Buffer.from('It is 20 \xb0C in the caf\xe9.', 'latin1'));
    expect(text).toBe('It is 20 °C in the café.');
    expect(warning).toMatch(/was read as Windows-1252/);
  });

  test('uses letters that come late', () => {
    const text = `${'Only ASCII here.\n'.repeat(10_000)}Die Brücke über die Größe prüfen; für Ämter schön.\n`;
    expect(read(iconv.encode(text, 'macroman'))[0]).toBe(text);
  });

  test('gives way to what the text says itself', () => {
    expect(read(iconv.encode('# -*- coding: iso-8859-2 -*-\nprint("ř")', 'iso-8859-2'))[0]).toContain('ř');
    const declared = '<?xml version="1.0" encoding="windows-1251"?>\n<a>ж</a>';
    expect(read(iconv.encode(declared, 'windows-1251'))).toEqual([declared]);
  });

  test('and a declaration give way to valid UTF-8', () => {
    expect(decode(Buffer.from('水车在奥姆'), 'a.html', 'gb2312').text).toBe('水车在奥姆');
  });
});

describe('damaged UTF-8', () => {
  const line = 'Die Brücke, Größe, 日本語.\n';

  test('one wrong byte is replaced, and the line named', () => {
    const bytes = Buffer.concat([
      Buffer.from(line.repeat(3)),
      Buffer.from([0xe9]),
      Buffer.from(`x\n${line}`),
    ]);
    expect(read(bytes)).toEqual([
      `${line.repeat(3)}�x\n${line}`,
      'Bytes that are not UTF-8 were read as “�” in line 4.',
    ]);
  });

  test('an end within a character', () => {
    const bytes = Buffer.from(line);
    expect(read(bytes.subarray(0, -3))).toEqual([
      'Die Brücke, Größe, 日本�',
      'Bytes that are not UTF-8 were read as “�” in line 1.',
    ]);
  });

  test('many lines are counted', () => {
    const bytes = Buffer.concat(
      Array.from({ length: 9 }, () => [Buffer.from('über '), Buffer.from([0xff, 10])]).flat(),
    );
    expect(read(bytes)[1]).toBe(
      'Bytes that are not UTF-8 were read as “�” in lines 1, 2, 3, 4, 5 and 4 more.',
    );
  });

  test('a replacement character of the author is no damage', () => {
    expect(read('a � b')).toEqual(['a � b']);
  });
});

describe('what no program shows', () => {
  test.each([
    ['colours', '\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07', 'red link'],
    ['letters struck over', 'N\bNA\bAM\bME\bE _\bx', 'NAME x'],
    [
      'control characters and the end mark of DOS',
      'words \x01b\x7f and a long line of plain text after them, to the end\x1a',
      'words b and a long line of plain text after them, to the end',
    ],
    ['marks of joined files', '\ufeffa\n\ufeffb', 'a\nb'],
    ['line ends', 'a\r\nb\rc\vd', 'a\nb\nc\nd'],
  ])('%s', (_, text, shown) => {
    expect(read(text)).toEqual([shown]);
  });

  test('zeros in a log', () => {
    expect(read(`one\n${'\0'.repeat(500)}two\n`)).toEqual([
      'one\ntwo\n',
      'NUL bytes were left out in line 2.',
    ]);
  });
});

test('hidden instructions in invisible characters are left out; flags stay', () => {
  const hidden = Array.from('obey', (letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join(
    '',
  );
  const flag = '\u{1f3f4}\u{e0067}\u{e0062}\u{e007f}';
  expect(read(`a ${flag}\nwords${hidden} here`)).toEqual([
    `a ${flag}\nwords here`,
    'Invisible characters were left out in line 2.',
  ]);
});

test('what is no text is refused', () => {
  const binary = Buffer.from(Array.from({ length: 2000 }, (_, i) => (i * 7919) % 256));
  expect(() => read(binary)).toThrow(/is not a text file/);
});

test('a file that begins with ASCII is not in UTF-16, whatever bytes follow', () => {
  const bytes = Buffer.concat([
    Buffer.from('<HTML><HEAD>'.repeat(50)),
    Buffer.from('c06c07000002000080c26c07', 'hex'),
    Buffer.from('</HEAD>'.repeat(10)),
  ]);
  expect(decode(bytes, 'a.html').text).toContain('<HTML><HEAD>');
});
