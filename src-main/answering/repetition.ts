/** Times that a run must stand in a row to count: of one that says something, and of any. */
const TELLING_TIMES = 3;
const ANY_TIMES = 8;
/** Letters and digits of a run that says something; a character of a script without blanks counts as three. */
const TELLING_LETTERS = 20;
/** Of all times together, of runs that do not: a line of a table, of a list or of code may stand many times. */
const ANY_LETTERS = 240;
/** UTF-16 units at the end that are looked at: three times a long paragraph. */
const LOOKED_AT = 4096;
/** UTF-16 units between two looks. */
const STEP = 16;

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu;
const LETTER = /[\p{L}\p{M}\p{N}]/gu;
/** Lines that repeat for a reason: of tables, indented ones, and those that end as code does. */
const STRUCTURE = /^\s*\||^(?: {2,}|\t)\S|[;{}]\s*$|^\s*(?:<\/?\w|```)/m;
const FENCE = /^\s*```/gm;
/** Numbers and bullets of a list: a model that counts on says the same all the same. */
const LIST_MARK = /^[ \t]*(?:\d{1,4}[.)]|[-*•])[ \t]+/gm;

/** Notices in a text that is being written when its end says the same again and again. */
export class RepetitionWatch {
  #text = '';
  #unseen = 0;
  #fences = 0;

  /** Whether the text, with this behind it, repeats itself. */
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

/** Whether the text ends with a run several times in a row. */
function repeats(text: string, inCode: boolean): boolean {
  // What a text ends with is what it begins with, read backwards: the failure function of Knuth, Morris and Pratt gives the periods.
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
