/** Words that point back to what was said, and beginnings that go on with it. */
const POINTS_BACK =
  /\b(it|its|he|him|his|she|her|hers|they|them|their|theirs|this|these|those)\b|^\s*(and|but|also|or|what about|how about|why)\b|[他她它这這那其]/iu;

/**
 * What to search for. "And where was she born?" names nobody: such a question is searched together with the one before
 * it. A question that stands by itself is searched alone, since words of another subject would only find that one again.
 */
export function searchText(question: string, previous: string | undefined): string {
  return previous !== undefined && POINTS_BACK.test(question) ? `${previous}\n${question}` : question;
}
