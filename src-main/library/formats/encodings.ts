import iconv from 'iconv-lite';
import { detectAll } from 'jschardet';

/** Names of jschardet that iconv-lite has under another. */
const NAMES: Readonly<Record<string, string>> = { MacLatin2: 'maccenteuro' };

/** Of central Asia and early computers; they are taken for others that are met a thousand times as often. */
const RARE = ['ptcp154', 'kz-1048', 'koi8-t', 'hp-roman8', 'cp1006', 'johab'];

/** Candidates of less than this share of the first one's confidence are not considered. */
const MIN_CONFIDENCE = 0.2;
/** A guess is unsure if the next encoding with another text is nearly as likely, and there are few characters to go by. */
const CLOSE = 0.9;
const FEW_CHARACTERS = 12;

interface EncodingGuess {
  encoding: string;
  sure: boolean;
}

/**
 * The encoding of a text that is not UTF-8, by the frequency of pairs of letters in languages (jschardet). Of encodings that are about as
 * likely, one is preferred in which words are of one script and have their capitals at the beginning: jschardet does not look at words.
 * undefined when there is none.
 */
export function guessEncoding(sample: Buffer): EncodingGuess | undefined {
  const guesses = detectAll(sample, { minimumThreshold: 0, excludeEncodings: RARE }).flatMap(
    ({ encoding, confidence }) => {
      const name = NAMES[encoding ?? ''] ?? encoding ?? '';
      // Wide encodings without a mark were tried before, and any bytes are valid in them.
      if (!iconv.encodingExists(name) || /^utf-?(?:16|32)/i.test(name)) return [];
      const text = iconv.decode(sample, name);
      return [{ encoding: name, confidence, text, oddities: odditiesIn(text) }];
    },
  );
  const [first] = guesses;
  if (!first) return undefined;
  const likely = guesses.filter(({ confidence }) => confidence > first.confidence * MIN_CONFIDENCE);
  const best = likely.reduce((least, each) => (each.oddities < least.oddities / 2 ? each : least));
  const next = guesses.find(({ text }) => text !== best.text)?.confidence ?? 0;
  const characters = sample.reduce((sum, byte) => sum + Number(byte > 0x7f), 0);
  return { encoding: best.encoding, sure: next < best.confidence * CLOSE || characters >= FEW_CHARACTERS };
}

/** A Latin letter beside one of another script, a capital or a symbol within a word, a control character, an impossible byte. */
const ODDITY =
  /\p{Script=Latin}(?=[^\p{Script=Latin}\P{L}])|(?<=[^\p{Script=Latin}\P{L}])\p{Script=Latin}|(?<=\p{Ll})\p{Lu}|(?<=\p{L})[\p{S}„“”‚‘«»‹›¿¡…](?=\p{L})|[\x80-\x9f\ufffd]/gu;

function odditiesIn(text: string): number {
  return text.match(ODDITY)?.length ?? 0;
}

/** The most frequent Chinese characters in both scripts, kana, and the most frequent syllables of Korean: over 40 % of each language's text. */
const COMMON = new Set(
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直资命山金指统区保至形社便空决治展科基书非则听白界达光放强即难且权思设式色路记南品住告类求据程北边死张交规万取望觉术领共确传师观清今切院让识带导争运' +
    '這個們來為國時說會對發後過裡種經學現當沒動還進樣開從實軍無與長機關點業將兩間問應戰頭體見產給門東聲員義幾認條係氣題別變總電數報結務場計資統區決書則聽達強難權設記類據邊張規萬覺術領確傳師觀讓識帶導爭運' +
    '橋閉的鎖河村年円県市町語' +
    '、。，．・：；？！「」『』（）【】《》〈〉—…ー〜　１２３４５６７８９０％' +
    '이다는에을의가를은고하한로지도서기사으리어자나들인대정시일해수그부있전보스만과장공구조주제상성아원국여와것동비유요라게거생안문신위방화선내치세오연습니합입없않때며면적등년월',
);

/** Other letters that ordinary text has; with the ones above, some 3 % of all code points. */
const LETTER = /[\u00a0-\u024f\u0370-\u052f\u0590-\u06ff\u0e00-\u0e5b–—‘’“”„…€\u3041-\u30fe]/;

/**
 * How much of a text is ASCII and frequent characters: at most 1. Bytes read as UTF-16 or UTF-32 that are not have few, since few code
 * points are frequent.
 */
export function frequentShare(text: string): number {
  let sum = 0;
  for (const character of text) {
    if (/[\t\n\r\x20-\x7e]/.test(character) || COMMON.has(character) || LETTER.test(character)) sum++;
    else if (/[\p{Cc}\p{Cn}\p{Co}\p{Cs}]/u.test(character)) sum--;
  }
  return sum / Math.max(1, text.length);
}
