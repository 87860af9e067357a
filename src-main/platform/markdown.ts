/** Helpers for the Markdown export of conversations and analyses. */

export function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

/**
 * A file name for a title, or `otherwise` if nothing is left. Keeps letters and digits of any language, which every
 * system accepts.
 */
export function fileName(title: string, otherwise: string): string {
  const plain = title
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .slice(0, 60)
    .replace(/^-|-$/g, '');
  return plain.toWellFormed() || otherwise;
}
