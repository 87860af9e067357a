/** Accents by command, as the combining characters that follow a letter in Unicode. */
const ACCENTS: Readonly<Record<string, string>> = {
  '`': '\u0300', "'": '\u0301', '^': '\u0302', '~': '\u0303', '=': '\u0304', u: '\u0306', '.': '\u0307', '"': '\u0308',
  r: '\u030a', H: '\u030b', v: '\u030c', d: '\u0323', c: '\u0327', k: '\u0328', b: '\u0331',
};

/** Commands for single characters. */
export const SYMBOLS: Readonly<Record<string, string>> = {
  ss: 'ß', ae: 'æ', AE: 'Æ', oe: 'œ', OE: 'Œ', o: 'ø', O: 'Ø', aa: 'å', AA: 'Å', l: 'ł', L: 'Ł', i: 'ı', j: 'ȷ', dh: 'ð', th: 'þ',
  S: '§', P: '¶', dag: '†', ddag: '‡', copyright: '©', pounds: '£', euro: '€', EUR: '€', texteuro: '€', ldots: '…', dots: '…', textellipsis: '…',
  textendash: '–', textemdash: '—', textbackslash: '\\', textasciitilde: '~', textasciicircum: '^', textbar: '|', textless: '<', textgreater: '>',
  textdegree: '°', degree: '°', textregistered: '®', texttrademark: '™', textbullet: '•', textperiodcentered: '·', textquotedblleft: '“',
  textquotedblright: '”', textquoteleft: '‘', textquoteright: '’', guillemotleft: '«', guillemotright: '»', og: '« ', fg: ' »', glqq: '„', grqq: '“',
  quotedblbase: '„', TeX: 'TeX', LaTeX: 'LaTeX', LaTeXe: 'LaTeX2e', BibTeX: 'BibTeX', slash: '/', textunderscore: '_', textdollar: '$',
  '&': '&', '%': '%', $: '$', '#': '#', _: '_', '{': '{', '}': '}', ' ': ' ', '\n': ' ', ',': '\u2009', ';': ' ', ':': ' ', quad: ' ', qquad: '  ',
  space: ' ', and: ', ', today: '', '@': '', '/': '', '-': '', '!': '', '>': ' ', '*': '', par: '\n\n', newline: '\n', linebreak: '\n', '\\': '\n', tabularnewline: '\n',
  newpage: '\n\n', clearpage: '\n\n', bigskip: '\n\n', medskip: '\n\n', smallskip: '\n\n', hline: '', toprule: '', midrule: '', bottomrule: '',
};

export function isAccent(command: string): boolean {
  return Object.hasOwn(ACCENTS, command);
}

export function accented(command: string, letter: string): string {
  const [first = '', ...rest] = letter.replace('ı', 'i').replace('ȷ', 'j');
  return first === '' ? '' : `${first}${ACCENTS[command] ?? ''}`.normalize('NFC') + rest.join('');
}

/** Commands whose arguments are not text: with how many of them. */
export const SILENT: Readonly<Record<string, number>> = {
  label: 1, usepackage: 1, RequirePackage: 1, documentclass: 1, bibliographystyle: 1, bibliography: 1, vspace: 1, hspace: 1, setlength: 2,
  addtolength: 2, pagestyle: 1, thispagestyle: 1, pagenumbering: 1, geometry: 1, hypersetup: 1, setcounter: 2, addtocounter: 2, color: 1,
  textcolor: 1, colorbox: 1, definecolor: 3, addcontentsline: 3, graphicspath: 1, newtheorem: 2, index: 1, hyphenation: 1, selectlanguage: 1,
  foreignlanguage: 1, fontsize: 2, cmidrule: 1, cline: 1, rule: 2, phantom: 1, vphantom: 1, hphantom: 1, nocite: 1, setmainfont: 1, newcounter: 1,
  newlength: 1, raisebox: 1, parbox: 1, scalebox: 1, resizebox: 2, multirow: 2, lstset: 1, tikzset: 1, usetikzlibrary: 1,
  input: 1, include: 1, subfile: 1, includegraphics: 1, addbibresource: 1, enlargethispage: 1, marginparwidth: 0, markboth: 2, markright: 1,
};
