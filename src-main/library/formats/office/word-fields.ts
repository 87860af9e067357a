import { attribute, element, elements, type XmlElement } from '../xml.ts';
import { PAGE_NUMBER } from './page-numbers.ts';
import { isOn, value } from './word-numbers.ts';

/** Complex fields that are open (ECMA-376 part 1, 17.16.18): begin, instruction, separate, result, end. They may span paragraphs. */
export class WordFields {
  #fields: { instruction: string; hasResult: boolean }[] = [];
  /** In headers and footers a mark stands for the numbers of pages. */
  readonly #isEdge: boolean;

  constructor(isEdge: boolean) {
    this.#isEdge = isEdge;
  }

  /** What is shown of a text here: nothing while an instruction is read. */
  shown(text: string): string {
    if (!this.#fields.every(({ hasResult }) => hasResult)) return '';
    return this.#fields.some(({ instruction }) => this.isPageNumber(instruction)) ? PAGE_NUMBER : text;
  }

  isPageNumber(instruction: string): boolean {
    return this.#isEdge && /^\s*(PAGE|NUMPAGES|SECTIONPAGES)\b/i.test(instruction);
  }

  addInstruction(text: string): void {
    const field = this.#fields.at(-1);
    if (field) field.instruction += text;
  }

  /** A `fldChar`; returns what it shows. Form fields of the old kind show their state at their begin. */
  mark(node: XmlElement): string {
    const type = attribute(node, 'fldCharType');
    if (type === 'end') this.#fields.pop();
    const field = this.#fields.at(-1);
    if (type === 'separate' && field) field.hasResult = true;
    if (type !== 'begin') return '';
    const state = this.shown(formState(element(node, 'ffData')));
    this.#fields.push({ instruction: '', hasResult: false });
    return state;
  }

  /** Fields without an end must not hide what follows their paragraph. */
  endParagraph(): void {
    this.#fields = this.#fields.filter(({ hasResult }) => hasResult);
  }
}

function formState(data: XmlElement | undefined): string {
  const box = element(data, 'checkBox');
  if (box) {
    const state = element(box, 'checked') ?? element(box, 'default');
    return state && isOn(state) ? '☑' : '☐';
  }
  const list = element(data, 'ddList');
  const entries = elements(list, 'listEntry');
  const entry = entries[Number(value(list, 'result') ?? value(list, 'default') ?? 0)];
  return (entry && attribute(entry, 'val')) ?? '';
}
