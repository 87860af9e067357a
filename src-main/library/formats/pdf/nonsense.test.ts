import { expect, test } from 'vitest';
import { isNonsense } from './nonsense.ts';

const EN =
  'The Municipal Water Board of Hartley met on 14 March 2023 to decide how the repairs of the old reservoir should be paid for. The walls have cracks, said the engineers, and some of them are wide; the costs would rise with each month of waiting.';
const RU =
  'Привет, мир! Это обычный русский текст, который состоит из нескольких слов и предложений. '.repeat(2);

test.each([
  ['English', EN],
  [
    'German',
    'Die Gemeindeversammlung von Niederlößnitz beschloss, die Straßenbeleuchtung in der Altstadt vollständig zu erneuern und abzurechnen.',
  ],
  [
    'Czech',
    'Čtvrthodina zmrzlých prstů: vlk strčil krk skrz drn, prv zhltl hrst zrn. Příliš žluťoučký kůň úpěl ďábelské ódy, a to za svítání.',
  ],
  [
    'Vietnamese',
    'Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi. Mọi con người đều được tạo hoá ban cho lý trí và lương tâm.',
  ],
  [
    'Polish',
    'Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i sumieniem, i powinni tak postępować.',
  ],
  ['Chinese', '云湖县水务局于二〇二三年三月十四日召开会议，讨论老水库的维修费用问题。'.repeat(4)],
  ['Russian', RU],
  ['numbers', 'Total 1,284.50 -3.2% | 88.40 117.63 (742.90) 1.06.2023 14:30 | 12/5 0.75 9.15 €\n'.repeat(6)],
  [
    'code',
    'for (let i = 0; i < rows.length; i++) { const row = rows[i] ?? empty; sums.set(row.key, (sums.get(row.key) ?? 0) + row.value); }',
  ],
  ['a short code', 'XKJ-4471-BTR'],
])('%s is no nonsense', (_, text) => {
  expect(isNonsense(text)).toBe(false);
});

/** As fonts without a table of characters often give it: 29 less than ASCII. */
const shifted = Array.from(EN, (letter) => String.fromCharCode(Math.max(33, letter.charCodeAt(0) - 29)));

test.each([
  ['shifted codes', shifted.join('')],
  [
    'another shift',
    EN.replace(/[a-z]/g, (letter) => String.fromCharCode(97 + ((letter.charCodeAt(0) - 97 + 3) % 26))),
  ],
  [
    'a wrong encoding',
    Buffer.from(RU)
      .toString('latin1')
      .replace(/[^\p{L} ]/gu, 'Ð'),
  ],
  ['signs', '!"#$ %&\'() *+,-. /:;<= >?@[ ]^_`{ |}~ ¢£¤¥ ¦§¨© '.repeat(4)],
])('%s', (_, text) => {
  expect(isNonsense(text)).toBe(true);
});
