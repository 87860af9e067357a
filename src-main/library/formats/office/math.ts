import { ownValue } from '../../../../src-shared/own-value.ts';
import { attribute, element, elements, textOf, type XmlElement } from '../xml.ts';

/** An Office formula (ECMA-376 part 1, 22.1) as LaTeX, without marks around it. */
export function mathText(parent: XmlElement | undefined): string {
  return elements(parent).map(mathElement).join('').replace(/ {2,}/g, ' ').trim();
}

function mathElement(node: XmlElement): string {
  const convert = ownValue(CONVERTERS, node.name);
  if (convert) return convert(node);
  return node.name.endsWith('Pr') ? '' : mathText(node);
}

const CONVERTERS: Readonly<Record<string, (node: XmlElement) => string>> = {
  t: (node) => letters(textOf(node)),
  del: () => '',
  moveFrom: () => '',
  sSup: (node) => `${base(node)}^${braced(part(node, 'sup'))}`,
  sSub: (node) => `${base(node)}_${braced(part(node, 'sub'))}`,
  sSubSup: (node) => `${base(node)}_${braced(part(node, 'sub'))}^${braced(part(node, 'sup'))}`,
  sPre: (node) => `{}_${braced(part(node, 'sub'))}^${braced(part(node, 'sup'))}${part(node, 'e')}`,
  f: fraction,
  rad: (node) => {
    const degree = part(node, 'deg');
    return `\\sqrt${degree === '' ? '' : `[${degree}]`}{${part(node, 'e')}}`;
  },
  nary: (node) => {
    const sign = property(node, 'naryPr', 'chr') ?? '∫';
    const [sub, sup] = [part(node, 'sub'), part(node, 'sup')];
    const limits = `${sub === '' ? '' : `_${braced(sub)}`}${sup === '' ? '' : `^${braced(sup)}`}`;
    return `${ownValue(NARY, sign) ?? sign}${limits} ${part(node, 'e')}`;
  },
  d: (node) => {
    const separator = property(node, 'dPr', 'sepChr') ?? '|';
    const inner = elements(node, 'e').map(mathText).join(separator);
    return `${property(node, 'dPr', 'begChr') ?? '('}${inner}${property(node, 'dPr', 'endChr') ?? ')'}`;
  },
  func: (node) => {
    const name = part(node, 'fName');
    return `${/^[a-z]{2,}$/.test(name) ? `\\${name}` : name} ${part(node, 'e')}`;
  },
  limLow: (node) => `${part(node, 'e')}_${braced(part(node, 'lim'))}`,
  limUpp: (node) => `${part(node, 'e')}^${braced(part(node, 'lim'))}`,
  acc: (node) =>
    `${ownValue(ACCENTS, property(node, 'accPr', 'chr') ?? '\u0302') ?? '\\hat'}{${part(node, 'e')}}`,
  bar: (node) => `\\${property(node, 'barPr', 'pos') === 'top' ? 'over' : 'under'}line{${part(node, 'e')}}`,
  eqArr: (node) => `\\begin{aligned}${elements(node, 'e').map(mathText).join(' \\\\ ')}\\end{aligned}`,
  m: (node) => `\\begin{matrix}${elements(node, 'mr').map(row).join(' \\\\ ')}\\end{matrix}`,
};

const NARY: Readonly<Record<string, string>> = {
  '∑': '\\sum',
  '∏': '\\prod',
  '∫': '\\int',
  '∬': '\\iint',
  '∮': '\\oint',
  '⋃': '\\bigcup',
  '⋂': '\\bigcap',
};

const ACCENTS: Readonly<Record<string, string>> = {
  '\u0300': '\\grave',
  '\u0301': '\\acute',
  '\u0302': '\\hat',
  '\u0303': '\\tilde',
  '\u0304': '\\bar',
  '\u0305': '\\overline',
  '\u0307': '\\dot',
  '\u0308': '\\ddot',
  '\u20d7': '\\vec',
};

function part(node: XmlElement, name: string): string {
  return mathText(element(node, name));
}

/** What a script stands at: braced if it is more than one letter or number. */
function base(node: XmlElement): string {
  const text = part(node, 'e');
  return /^(\p{L}|\p{N}+|[([].*[)\]]|\\\w+(\{[^{}]*\})?)$/su.test(text) ? text : `{${text}}`;
}

function braced(text: string): string {
  return Array.from(text).length === 1 ? text : `{${text}}`;
}

function fraction(node: XmlElement): string {
  const [upper, lower] = [part(node, 'num'), part(node, 'den')];
  const type = property(node, 'fPr', 'type');
  if (type === 'noBar') return `{${upper} \\atop ${lower}}`;
  return `\\frac{${upper}}{${lower}}`;
}

function row(node: XmlElement): string {
  return elements(node, 'e').map(mathText).join(' & ');
}

function property(node: XmlElement, properties: string, name: string): string | undefined {
  const found = element(node, properties, name);
  return found && (attribute(found, 'val') ?? '');
}

/** Letters of Unicode's mathematical alphabets as plain ones. */
function letters(text: string): string {
  return text.replace(/[\u{1D400}-\u{1D7FF}ℎ]/gu, (letter) => letter.normalize('NFKC'));
}

/** MathML, as OpenDocument has it, as LaTeX. */
export function mathmlText(node: XmlElement | string): string {
  if (typeof node === 'string') return letters(node.trim());
  const parts = node.children
    .filter((child) => typeof child !== 'string' || child.trim() !== '')
    .filter((child) => typeof child === 'string' || !child.name.startsWith('annotation'))
    .map(mathmlText);
  const [first = '', second = '', third = ''] = parts;
  const script = (): string => (/^.$/su.test(first) ? first : `{${first}}`);
  switch (node.name) {
    case 'msup':
    case 'mover':
      return `${script()}^${braced(second)}`;
    case 'msub':
    case 'munder':
      return `${script()}_${braced(second)}`;
    case 'msubsup':
    case 'munderover':
      return `${script()}_${braced(second)}^${braced(third)}`;
    case 'mfrac':
      return `\\frac{${first}}{${second}}`;
    case 'msqrt':
      return `\\sqrt{${parts.join('')}}`;
    case 'mroot':
      return `\\sqrt[${second}]{${first}}`;
    case 'mtr':
      return parts.join(' & ');
    case 'mtable':
      return `\\begin{matrix}${parts.join(' \\\\ ')}\\end{matrix}`;
    default:
      return parts.join(node.name === 'mrow' || node.name === 'math' ? '' : ' ');
  }
}
