/** Consecutive repetitions needed to count: for text with enough letters, and for any text. */
const TELLING_TIMES = 3;
const ANY_TIMES = 8;
/** Letters and digits that make a repeated text meaningful; a character of a script without spaces counts as three. */
const TELLING_LETTERS = 20;
/** Total length of repetitions of other text: a line of a table, a list or code may occur many times. */
const ANY_LETTERS = 240;
/** UTF-16 units examined at the end: three times a long paragraph. */
const LOOKED_AT = 4096;
/** UTF-16 units between two checks. */
const STEP = 16;

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const LETTER = /[\p{L}\p{M}\p{N}]/gu;
/** Lines that repeat for a reason: of tables, indented ones, and those with code endings. */
const STRUCTURE = /^\s*\||^(?: {2,}|\t)\S|[;{}]\s*$|^\s*(?:<\/?\w|```)/m;
const FENCE = /^\s*```/gm;
/** Numbers and bullets of a list: a model that only increments them still repeats itself. */
const LIST_MARK = /^[ \t]*(?:\d{1,4}[.)]|[-*•])[ \t]+/gm;

/** Detects when the end of a text that is being written repeats over and over. */
export class RepetitionWatch {
  #text = '';
  #unseen = 0;
  #fences = 0;

  /** Whether the text, with this appended, repeats itself. */
  push(more: string): boolean {
    this.#text += more;
    this.#unseen += more.length;
    if (this.#unseen < STEP) return false;
    this.#unseen = 0;
    if (this.#text.length > 2 * LOOKED_AT) this.#shorten();
    const inCode = (this.#fences + countOf(this.#text, FENCE)) % 2 === 1;
    return repeats(this.#text.slice(-LOOKED_AT).replace(LIST_MARK, ''), inCode);
  }

  #shorten(): void {
    const cut = this.#text.lastIndexOf('\n', this.#text.length - LOOKED_AT) + 1 || LOOKED_AT;
    this.#fences += countOf(this.#text.slice(0, cut), FENCE);
    this.#text = this.#text.slice(cut);
  }
}

/** Whether the text ends with the same run several times in a row. */
function repeats(text: string, inCode: boolean): boolean {
  // A suffix is a prefix of the reversed text: the failure function of Knuth, Morris and Pratt gives the periods.
  const end = text.length - 1;
  const border = new Uint16Array(text.length + 1);
  for (let length = 1, matched = 0; length < text.length; length++) {
    while (matched > 0 && text[end - length] !== text[end - matched]) matched = border[matched] ?? 0;
    if (text[end - length] === text[end - matched]) matched++;
    border[length + 1] = matched;
    const period = length + 1 - matched;
    const times = Math.floor((length + 1) / period);
    if (times >= TELLING_TIMES && isLoop(text.slice(-period), times, inCode)) return true;
  }
  return false;
}

function isLoop(run: string, times: number, inCode: boolean): boolean {
  const letters = countOf(run, LETTER) + 2 * countOf(run, WIDE);
  if (times >= ANY_TIMES && Math.max(letters, run.length / 4) * times >= ANY_LETTERS) return true;
  return letters >= TELLING_LETTERS && !inCode && !STRUCTURE.test(run);
}

function countOf(text: string, what: RegExp): number {
  return text.match(what)?.length ?? 0;
}
