/** Sentences as a paragraph, without empty ones: Chinese sentences follow one another without a space. */
export function joined(sentences: readonly string[]): string {
  const said = sentences.filter((sentence) => sentence !== '');
  return said
    .reduce((text, next) => (/[。：！？]$/.test(text) ? text + next : `${text} ${next}`), '')
    .trimStart();
}
