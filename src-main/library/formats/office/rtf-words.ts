import { each, pairs } from '../pairs.ts';

/** Destinations whose text is not shown, or is shown elsewhere too (RTF 1.9.1). */
export const SKIPPED = new Set(
  'colortbl info pict objdata nonshppict shppict shprslt sp xe tc rxe private bkmkstart bkmkend template revtbl nonesttables pnseclvl datastore themedata latentstyles generator filetbl listtable listoverridetable rsidtbl mmathPr atnid atrfstart atrfend atndate atnref atnparent aftnsep aftnsepc ftnsep ftnsepc ftncn aftncn comment falt panose'.split(
    ' ',
  ),
);

/** Destinations that are marked as ignorable and are read all the same. */
export const READ = new Set(
  'shpinst shptxt dptxbxtext do annotation atnauthor fldinst ud nesttableprops moMath moMathPara mmath'.split(
    ' ',
  ),
);

export const EDGES: ReadonlyMap<string, 'headers' | 'footers'> = new Map([
  ...each('header headerl headerr headerf', 'headers' as const),
  ...each('footer footerl footerr footerf', 'footers' as const),
]);

/** Control words that stand for a character. */
export const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ...pairs('emdash — endash – bullet • lquote ‘ rquote ’ ldblquote “ rdblquote ” ~ \u00a0 _ - \\ \\ { { } }'),
  ...each('emspace enspace qmspace', ' '),
  ...each('line lbr', '\n'),
  ['tab', '\t'],
  ['-', ''],
]);

/** Code pages of the character sets of fonts (RTF 1.9.1, “Font Table”). */
export const CHARSETS: ReadonlyMap<string, string> = new Map([
  ...pairs('77 macroman 128 cp932 129 cp949 134 cp936 136 cp950 161 cp1253 162 cp1254 163 cp1258'),
  ...pairs('177 cp1255 178 cp1256 186 cp1257 204 cp1251 222 cp874 238 cp1250 255 cp437'),
]);
