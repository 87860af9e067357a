/** Words that refer to earlier text, and openings that continue it. */
const POINTS_BACK =
  /\b(it|its|he|him|his|she|her|hers|they|them|their|theirs|this|these|those)\b|^\s*(and|but|also|or|what about|how about|why)\b|[他她它这這那其]/iu;

/**
 * The search text. "And where was she born?" names nobody: such a question is searched together with the previous one. A self-contained
 * question is searched alone, since words about another subject would only find that subject again.
 */
export function searchText(question: string, previous: string | undefined): string {
  return previous !== undefined && POINTS_BACK.test(question) ? `${previous}\n${question}` : question;
}
