import {
  childrenOf,
  descendants,
  flatText,
  isElement,
  isWords,
  nameOf,
  type HtmlElement,
  type HtmlNode,
} from './nodes.ts';

/** A formula as LaTeX: the author's (MathML 3, 5.2 and 2.2.1) where it is there, else made from the presentation elements. */
export function mathText(math: HtmlElement): string {
  for (const node of descendants(math)) {
    if (isElement(node) && nameOf(node) === 'annotation' && /tex/i.test(node.attribs['encoding'] ?? ''))
      return flatText(node);
  }
  return (math.attribs['alttext'] ?? row(math, 0)).replace(/\s+/g, ' ').trim();
}

const MAX_DEPTH = 100;

function row(node: HtmlNode, depth: number): string {
  return childrenOf(node)
    .map((child) => latex(child, depth + 1))
    .join('');
}

function latex(node: HtmlNode, depth: number): string {
  if (!isElement(node)) return isWords(node) ? node.data.trim() : '';
  if (depth > MAX_DEPTH) return flatText(node);
  const parts = node.children.filter(isElement);
  const part = (i: number): string => (parts[i] ? latex(parts[i], depth + 1) : '');
  switch (nameOf(node)) {
    case 'mfrac':
      return `\\frac{${part(0)}}{${part(1)}}`;
    case 'msqrt':
      return `\\sqrt{${row(node, depth)}}`;
    case 'mroot':
      return `\\sqrt[${part(1)}]{${part(0)}}`;
    case 'msup':
    case 'mover':
      return `${base(part(0))}^{${part(1)}}`;
    case 'msub':
    case 'munder':
      return `${base(part(0))}_{${part(1)}}`;
    case 'msubsup':
    case 'munderover':
      return `${base(part(0))}_{${part(1)}}^{${part(2)}}`;
    case 'mfenced':
      return `${node.attribs['open'] ?? '('}${parts.map((_, i) => part(i)).join(', ')}${node.attribs['close'] ?? ')'}`;
    case 'mtable':
      return `\\begin{matrix}${parts.map((_, i) => part(i)).join(' \\\\ ')}\\end{matrix}`;
    case 'mtr':
    case 'mlabeledtr':
      return parts.map((_, i) => part(i)).join(' & ');
    case 'mtext':
      return `\\text{${flatText(node)}}`;
    case 'mspace':
      return ' ';
    case 'mo':
      return operator(flatText(node));
    case 'annotation':
    case 'annotation-xml':
    case 'mphantom':
      return '';
    default:
      return row(node, depth);
  }
}

/** More than one sign is one base. */
function base(text: string): string {
  return /../u.test(text) && !/^[\p{L}\p{N}]+$/u.test(text) ? `{${text}}` : text;
}

/** Relations and sums stand apart; function application and invisible times (U+2061 to U+2064) have no sign. */
function operator(sign: string): string {
  if (/^[\u2061-\u2064]$/.test(sign)) return '';
  return /^[()[\]{}|,.;!'′]$/.test(sign) ? sign : ` ${sign} `;
}
