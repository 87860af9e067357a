import iconv from 'iconv-lite';

/**
 * Letters outside ASCII by language, the most frequent first, for the encodings of one byte per character; behind a colon, frequent words
 * in ASCII. In its language's encoding nearly every character of a text is one of these; in another encoding few are.
 */
const ALPHABETS = [
  'üäöß:der die und ist das nicht ein von mit den des zu im auf',
  'éèàêçôîûùâëïœ:le la les de des et est une dans que un en du pour',
  'óíáéñúü:el la los de y es una que en por las con se un',
  'ãçéáíóêõâàúô:o a os de e um uma que em para as do da se',
  'èàòùéì:il la di che e un per non con una del i le',
  'ëéïö:de het een en van is niet op te dat',
  'äöå:och att det en som av den med till har om var ja on ei',
  'æøåé:og er det en at til af ikke i den de har som med',
  'íáðéóúöþýæ:og er um sem en af til var ekki',
  'łęąóżśćńź:i w na z jest nie do to od o po jak',
  'íáěéřšžýčůúňďťó:a je v na se do to od o pro jak s',
  'áíéčžýúšľťôňäďóĺŕ:a je v na sa do to od o pre ako s',
  'áéöóőíüűú:a az egy hogy nem van meg is ez de',
  'ăîâșț:de la este nu cu o un pe din ce care si',
  'ăîâşţ:de la este nu cu o un pe din ce care si',
  'čšžćđ:i je u na se da za su od ne s in ki',
  'ıüşçğöâ:ve bir bu da de ile ne daha en olan',
  'äõüöšž:ja on ei see et ka kui oma',
  'āīēšņļūžģķčō:un ir uz no ar par tas ka',
  'ėąšįūųžčę:ir yra su kad iš o bei kaip',
  'éàóèíòçúïü:el la de i que els les en per amb',
  'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё',
  'оанівтеирслкмдупзяьбгчйхцїшюєжщфґ',
  'аоиентрсвлпкдмзгъубчщяжцшйхфью',
  'аоиентрсвлјкдмпузгбчцшњжхћљђфџѓќѕ',
  'аніеыцрклсодвтупямзьгўйёюбчжшхэф',
  'αοιετσνηυρπκμλςωάίόέδγθήχύφβώξζψϊϋ',
  'ויהלאתרבשםנעדחקכזטפגסצןךץף',
  'اليمونترهبعدفسكقحةجشأصىضخطثإذغزءئؤظآ',
  'انرتیدمهوسبکلشخفگقزعپجچحطصآذضظغثژ',
  'านรอกเงมยลวดทสตะปบคหจพแชขใโไผซถธศณษภฐฉฟฎฏญฮฌฆฒฬฑฤ่้ิีื์ัุู็ำึๆ๊๋ฯ๐๑๒๓๔๕๖๗๘๙',
].map((line) => {
  const [letters = '', words] = line.split(':');
  const all = [...letters];
  // The first letter counts 1, the last of a long alphabet little.
  const weights = new Map(
    all.map((letter, rank) => [letter, 1 - (0.9 * rank) / Math.max(12, all.length)] as const),
  );
  return { weights, words: new Set(words?.split(' ')) };
});
const LETTERS = new Set(ALPHABETS.flatMap(({ weights }) => [...weights.keys()]));

/** The most frequent Chinese characters in both scripts, kana, and the most frequent syllables of Korean: over 40 % of each language's text. */
const COMMON = new Set(
  '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直资命山金指统区保至形社便空决治展科基书非则听白界达光放强即难且权思设式色路记南品住告类求据程北边死张交规万取望觉术领共确传师观清今切院让识带导争运' +
    '這個們來為國時說會對發後過裡種經學現當沒動還進樣開從實軍無與長機關點業將兩間問應戰頭體見產給門東聲員義幾認條係氣題別變總電數報結務場計資統區決書則聽達強難權設記類據邊張規萬覺術領確傳師觀讓識帶導爭運' +
    '橋閉的鎖河村年円県市町語' +
    '、。，．・：；？！「」『』（）【】《》〈〉—…ー〜　１２３４５６７８９０％' +
    '이다는에을의가를은고하한로지도서기사으리어자나들인대정시일해수그부있전보스만과장공구조주제상성아원국여와것동비유요라게거생안문신위방화선내치세오연습니합입없않때며면적등년월',
);
const KANA = /[\u3041-\u30fe]/;

/** Marks and symbols of ordinary text, which do not stand within a word. */
const MARKS = new Set('„“”‚‘’«»–—…•°§€£©®™·½¼¾²³±×÷ºª¿¡¶†‰¨\u00a0№،؟؛');
/** Frames of the DOS encodings. */
const FRAME = /[\u2500-\u259f]/;

/** In the order of how often they are met; of equally good ones the first is taken. */
const SINGLE_BYTE = (
  'windows-1252 windows-1251 windows-1250 cp850 macroman cp437 iso-8859-15 iso-8859-2 windows-1254 windows-1253 windows-1255 windows-1256 ' +
  'windows-1257 windows-874 koi8-r koi8-u cp866 iso-8859-7 iso-8859-5 iso-8859-6 iso-8859-8 iso-8859-16 cp852 cp857 cp737 cp862 cp855 cp775 ' +
  'maccenteuro maccyrillic macgreek macturkish'
).split(' ');
const MULTI_BYTE = ['shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr'];

const NAMES: Readonly<Record<string, string>> = {
  macroman: 'Mac Roman',
  maccenteuro: 'Mac Central European',
  maccyrillic: 'Mac Cyrillic',
  macgreek: 'Mac Greek',
  macturkish: 'Mac Turkish',
};

/** Below this advantage over the next encoding with another text, or with fewer characters to go by, a guess is unsure. */
const CLEAR_ADVANTAGE = 0.08;
const CLEAR_CHARACTERS = 4;

export interface EncodingGuess {
  encoding: string;
  /** For people. */
  name: string;
  sure: boolean;
}

/**
 * The encoding in which a text that is not UTF-8 reads most like a language, by the frequency of its characters outside ASCII and their
 * place in words. undefined when in none it does.
 */
export function guessEncoding(sample: Buffer): EncodingGuess | undefined {
  const words =
    sample
      .toString('latin1')
      .toLowerCase()
      .match(/(?<![a-z\x80-\xff])[a-z]+(?![a-z\x80-\xff])/g) ?? [];
  const fits = ALPHABETS.map((alphabet, rank) => {
    const share = words.filter((word) => alphabet.words.has(word)).length / Math.max(1, words.length);
    return { ...alphabet, bonus: share / 2 - rank / 1000 };
  });
  const guesses = [...SINGLE_BYTE, ...MULTI_BYTE]
    .map((encoding, rank) => {
      const text = iconv.decode(sample, encoding);
      const score = MULTI_BYTE.includes(encoding)
        ? commonShare(text)
        : alphabetShare(text, fits) - rank / 1500;
      return { encoding, text, score };
    })
    .sort((a, b) => b.score - a.score);
  const [best] = guesses;
  if (!best || best.score < 0) return undefined;
  const next = guesses.find(({ text }) => text !== best.text);
  const characters = best.text.match(/[^\0-\x7f]/gu)?.length ?? 0;
  const sure = characters >= CLEAR_CHARACTERS && best.score - (next?.score ?? 0) >= CLEAR_ADVANTAGE;
  return { encoding: best.encoding, name: NAMES[best.encoding] ?? best.encoding, sure };
}

/** How much of a text is characters that are frequent in Chinese, Japanese or Korean, of its characters outside ASCII: at most 2, of a text about 1. */
function commonShare(text: string): number {
  let sum = 0;
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character < '\x80') continue;
    count++;
    const beside = Number(isLatin(text[at - 1])) + Number(isLatin(text[at + 1]));
    if (beside === 2 || /[\p{Co}\p{Cc}\ufffd\uff61-\uff9f]/u.test(character)) sum -= 3;
    else if (beside === 0 && (COMMON.has(character) || KANA.test(character))) sum += 2;
  }
  return sum / Math.max(1, count);
}

/** How well a text fits an alphabet, per character outside ASCII: at most about 1. Of the language that fits best. */
function alphabetShare(
  text: string,
  alphabets: readonly { weights: ReadonlyMap<string, number>; bonus: number }[],
): number {
  const { counts, sum, total } = placesInWords(text);
  let best = -1;
  for (const { weights, bonus } of alphabets) {
    let score = sum;
    for (const [letter, count] of counts) score += (weights.get(letter) ?? -0.3) * count;
    best = Math.max(best, score / Math.max(1, total) + bonus);
  }
  return best;
}

/**
 * Counts the letters outside ASCII that stand where such a letter may, in lower case; and adds up what other characters speak for or
 * against the text.
 */
function placesInWords(text: string): { counts: Map<string, number>; sum: number; total: number } {
  const counts = new Map<string, number>();
  let sum = 0;
  let total = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character < '\x80') continue;
    total++;
    const [first, before, after] = [text[at - 2] ?? ' ', text[at - 1] ?? ' ', text[at + 1] ?? ' '];
    if (/[\p{L}\p{M}]/u.test(character)) {
      const lower = character.toLowerCase();
      const capital = character !== lower;
      const misplaced = capital ? isLower(before) : isUpper(before) && isUpper(first);
      const mixed = !isLatin(character) && (isLatin(before) || isLatin(after));
      if (misplaced || mixed || /\d/.test(before) || /\d/.test(after)) sum -= 1;
      else counts.set(lower, (counts.get(lower) ?? 0) + 1);
      if (capital) sum -= isUpper(before) || isUpper(after) ? 0.2 : 0.05;
    } else if (FRAME.test(character)) sum += isLetter(before) || isLetter(after) ? -1 : 0.6;
    else if (!MARKS.has(character)) sum -= /[\p{Cc}\p{Co}\ufffd]/u.test(character) ? 2 : 0.5;
    else sum += character !== '’' && isLetter(before) && isLetter(after) ? -1 : 0.6;
  }
  return { counts, sum, total };
}

function isLetter(character: string): boolean {
  return /\p{L}/u.test(character);
}

function isLatin(character = ' '): boolean {
  return /\p{Script=Latin}/u.test(character);
}

function isUpper(character: string): boolean {
  return character !== character.toLowerCase();
}

function isLower(character: string): boolean {
  return character !== character.toUpperCase();
}

/**
 * How much of a text is ASCII or frequent characters: 0 to 1. Bytes read as UTF-16 or UTF-32 that are not are a fraction of this, since
 * few code points are frequent.
 */
export function frequentShare(text: string): number {
  let sum = 0;
  for (const character of text) {
    if (/[\t\n\r\x20-\x7e]/.test(character) || COMMON.has(character) || KANA.test(character)) sum++;
    else if (LETTERS.has(character.toLowerCase()) || MARKS.has(character)) sum++;
    else if (/[\p{Cc}\p{Cn}\p{Co}\p{Cs}]/u.test(character)) sum--;
  }
  return sum / Math.max(1, text.length);
}
