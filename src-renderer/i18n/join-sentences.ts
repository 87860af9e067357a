/** Joins non-empty sentences to a paragraph; Chinese sentences are not separated by spaces. */
export function joinSentences(sentences: readonly string[]): string {
  const said = sentences.filter((sentence) => sentence !== '');
  return said
    .reduce((text, next) => (/[。：！？]$/.test(text) ? text + next : `${text} ${next}`), '')
    .trimStart();
}
