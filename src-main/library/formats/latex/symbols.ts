import { each, pairs } from '../pairs.ts';

/** Accents by command, as the combining characters that follow a letter in Unicode. */
const ACCENTS = new Map([
  ...pairs("` \u0300 ' \u0301 ^ \u0302 ~ \u0303 = \u0304 u \u0306 . \u0307"),
  ...pairs('" \u0308 r \u030a H \u030b v \u030c d \u0323 c \u0327 k \u0328 b \u0331'),
]);

/** Commands for characters, spaces and ends of lines. */
export const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ...pairs('ss ß ae æ AE Æ oe œ OE Œ o ø O Ø aa å AA Å l ł L Ł i ı j ȷ dh ð th þ S § P ¶ dag † ddag ‡'),
  ...pairs('copyright © pounds £ euro € EUR € texteuro € textdegree ° degree ° textregistered ®'),
  ...pairs('texttrademark ™ textbullet • textperiodcentered · ldots … dots … textellipsis …'),
  ...pairs('textendash – textemdash — textbackslash \\ textasciitilde ~ textasciicircum ^ textbar |'),
  ...pairs('textless < textgreater > textunderscore _ textdollar $ slash / & & % % $ $ # # _ _ { { } }'),
  ...pairs('textquotedblleft “ textquotedblright ” textquoteleft ‘ textquoteright ’ guillemotleft «'),
  ...pairs('guillemotright » glqq „ grqq “ quotedblbase „'),
  ...pairs('TeX TeX LaTeX LaTeX LaTeXe LaTeX2e BibTeX BibTeX'),
  ...each('today @ / - ! * hline toprule midrule bottomrule', ''),
  ...each('; : quad space >', ' '),
  ...each('newline linebreak \\ tabularnewline', '\n'),
  ...each('par newpage clearpage bigskip medskip smallskip', '\n\n'),
  [' ', ' '],
  ['\n', ' '],
  [',', '\u2009'],
  ['qquad', '  '],
  ['and', ', '],
  ['og', '« '],
  ['fg', ' »'],
]);

export function isAccent(command: string): boolean {
  return ACCENTS.has(command);
}

export function accented(command: string, letter: string): string {
  const [first = '', ...rest] = letter.replace('ı', 'i').replace('ȷ', 'j');
  return first === '' ? '' : `${first}${ACCENTS.get(command) ?? ''}`.normalize('NFC') + rest.join('');
}

/** Commands whose arguments are not text: with how many of them. */
export const SILENT: ReadonlyMap<string, number> = new Map([
  ...each('label index nocite input include subfile includegraphics graphicspath hyphenation', 1),
  ...each('usepackage RequirePackage documentclass bibliographystyle bibliography addbibresource', 1),
  ...each('vspace hspace enlargethispage pagestyle thispagestyle pagenumbering geometry hypersetup', 1),
  ...each('color textcolor colorbox selectlanguage foreignlanguage setmainfont newcounter newlength', 1),
  ...each('cmidrule cline phantom vphantom hphantom raisebox parbox scalebox markright', 1),
  ...each('lstset tikzset usetikzlibrary', 1),
  ...each('setlength addtolength setcounter addtocounter newtheorem fontsize rule resizebox', 2),
  ...each('multirow markboth', 2),
  ...each('definecolor addcontentsline', 3),
]);
