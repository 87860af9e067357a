/** Pieces of the Markdown files that conversations and analyses are exported as. */

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

export function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

/** A file's name for a title, `otherwise` where nothing is left of it. Letters and digits of any language; no system refuses those. */
export function fileName(title: string, otherwise: string): string {
  const plain = title
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 60)
    .replace(/^-|-$/g, '');
  return plain.toWellFormed() || otherwise;
}
