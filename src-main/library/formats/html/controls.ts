import { pictureText } from '../pictures.ts';
import { roman } from '../roman.ts';
import { descendants, flatText, isElement, rolesOf, type HtmlElement } from './nodes.ts';

/** Form fields whose value browsers do not show, or show as a button. */
const VALUELESS = new Set([
  'hidden',
  'password',
  'submit',
  'reset',
  'button',
  'image',
  'file',
  'range',
  'color',
]);

/** What a form field shows. */
export function inputText({ attribs }: HtmlElement): string {
  const type = (attribs['type'] ?? 'text').toLowerCase();
  if (type === 'checkbox' || type === 'radio') return 'checked' in attribs ? '[x] ' : '[ ] ';
  return VALUELESS.has(type) ? '' : ` ${attribs['value'] ?? ''} `;
}

export function selectText(select: HtmlElement): string {
  const options = [...descendants(select)].filter(isElement).filter(({ name }) => name === 'option');
  const chosen = options.filter(({ attribs }) => 'selected' in attribs);
  if (chosen.length === 0 && !('multiple' in select.attribs)) chosen.push(...options.slice(0, 1));
  return ` ${chosen.map((option) => flatText(option)).join(', ')} `;
}

/** The text that is read where a picture cannot be seen; '' for decoration. */
export function altText(picture: HtmlElement): string {
  if (rolesOf(picture).some((role) => role === 'presentation' || role === 'none')) return '';
  return pictureText(picture.attribs['alt']);
}

interface ListNumber {
  next(item: HtmlElement): void;
  text(item: HtmlElement): string;
}

/** The numbers of an ordered list (HTML standard, 4.4.5 and 4.4.8). */
export function listNumber(list: HtmlElement, items: number): ListNumber {
  const reversed = 'reversed' in list.attribs;
  const start = Number.parseInt(list.attribs['start'] ?? '', 10);
  const step = reversed ? -1 : 1;
  let number = (Number.isNaN(start) ? (reversed ? items : 1) : start) - step;
  return {
    next: ({ attribs }) => {
      const value = Number.parseInt(attribs['value'] ?? '', 10);
      number = Number.isNaN(value) ? number + step : value;
    },
    text: ({ attribs }) => `${numeral(number, attribs['type'] ?? list.attribs['type'] ?? '1')}.`,
  };
}

function numeral(number: number, type: string): string {
  if (number < 1 || number > 3999 || !/^[aAiI]$/.test(type)) return String(number);
  const text = type.toLowerCase() === 'a' ? letters(number) : roman(number);
  return type === type.toUpperCase() ? text.toUpperCase() : text.toLowerCase();
}

function letters(number: number): string {
  const rest = Math.floor((number - 1) / 26);
  return (rest > 0 ? letters(rest) : '') + String.fromCodePoint(97 + ((number - 1) % 26));
}
