import { tellingTerms } from '../../catalogue/words.ts';
import { isAble } from '../able-model.ts';
import type { NamedModel } from '../named-model.ts';

/** An answered question of the conversation. */
export interface PastQuestion {
  question: string;
  text: string;
}

/** Words that refer to earlier text, and openings that continue it. */
const POINTS_BACK =
  /\b(it|its|he|him|his|she|her|hers|they|them|their|theirs|this|these|those)\b|^\s*(and|but|also|or|what about|how about|why)\b|[他她它这這那其]/iu;

/** "The second one?" has two. */
const FEW_WORDS = 2;
/** Earlier questions that a follow-up is searched with. */
const MOST_EARLIER = 3;

/** Whether a question says that it continues the previous one. */
export function pointsBack(question: string): boolean {
  return POINTS_BACK.test(question);
}

/** Whether a question may need the previous one to be understood: in any language, one with few telling words, too. */
export function refersBack(question: string): boolean {
  const { words, pieces } = tellingTerms(question);
  return pointsBack(question) || words.length + pieces.length <= FEW_WORDS;
}

/**
 * The search text. "And where was she born?" names nobody: such a question is searched together with the previous ones, back to one that
 * stands alone. A self-contained question is searched alone, since words about another subject would only find that subject again.
 */
export function searchText(question: string, earlier: readonly string[]): string {
  const texts = [question];
  for (const text of earlier.toReversed().slice(0, MOST_EARLIER)) {
    if (!refersBack(texts[0] ?? '')) break;
    texts.unshift(text);
  }
  return texts.join('\n');
}

/** Characters of an answer that a model is shown to rewrite the question after it, and of the rewritten question at most. */
const MOST_SHOWN = 400;

const ONE_LINE = String.raw`root ::= [^\n]+`;

/**
 * A follow-up as a question that stands alone, written by a model that is able to. undefined when it does not refer back, or the model
 * fails. ABORTED.
 */
export async function standAlone(
  question: string,
  earlier: readonly PastQuestion[],
  {
    model,
    write,
  }: Pick<NamedModel, 'model'> & { write: (prompt: string, grammar: string) => Promise<string> },
): Promise<string | undefined> {
  const [last] = earlier.slice(-1);
  if (!last || !isAble(model) || !refersBack(question)) return undefined;
  const written = (await write(rewritingPrompt(question, last), ONE_LINE)).trim();
  return written !== '' && written.length <= MOST_SHOWN ? written : undefined;
}

function rewritingPrompt(question: string, last: PastQuestion): string {
  return [
    'Rewrite the last question so that it can be understood without the conversation. Keep its language and meaning. Write the question only.',
    `First question: ${last.question}`,
    `Answer: ${last.text.slice(0, MOST_SHOWN).toWellFormed()}`,
    `Last question: ${question}`,
  ].join('\n');
}
