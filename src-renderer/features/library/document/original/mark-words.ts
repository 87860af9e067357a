import { findPassage, type TextPiece } from '../../../../../src-shared/find-passage.ts';

/** Puts a passage of a page's text into elements `mark`; returns the first. */
export function markWords(root: HTMLElement, passage: string, near: number): HTMLElement | undefined {
  const nodes: Text[] = [];
  const pieces: TextPiece[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  let begins = true;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (node instanceof Text) {
      nodes.push(node);
      pieces.push({ text: node.data, begins });
      begins = false;
    } else if (node.nodeName === 'BR') begins = true;
  }
  const marks = findPassage(pieces, passage, near).map((range, i) => {
    const node = nodes[i];
    if (!range || !node) return undefined;
    const mark = document.createElement('mark');
    const inside = node.splitText(range.start);
    inside.splitText(range.end - range.start);
    inside.replaceWith(mark);
    mark.append(inside);
    return mark;
  });
  return marks.find((mark) => mark !== undefined);
}
