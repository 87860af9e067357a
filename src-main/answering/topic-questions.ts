/** Generated questions about a library: plain templates around names in its headings and texts. */

interface TopicQuestion {
  /** The search text. */
  topic: string;
  question: string;
}

/** A chunk, with only the fields that finding topics needs. */
interface TitledText {
  /** The document's title and the headings above the chunk, outermost first, joined by ' › '. */
  title: string;
  text: string;
}

/** Longer headings are sentences, not names. */
const LONGEST = 80;

/** Capitalised words inside a sentence; the first word need not be a name. */
const NAMES = /(?<=[\p{Ll}\p{N},;] )\p{Lu}[\p{L}\p{N}’'-]+(?: \p{Lu}[\p{L}\p{N}’'-]+)*/gu;

/** The text between Chinese marks of a title or a name. */
const MARKED = /[《「『“]([^《》「」『』“”]{2,30})[》」』”]/gu;

const HAN = /\p{Script=Han}/gu;

/** The topics of a chunk: its innermost heading, then the names in it, the most frequent first. */
export function topicsOf({ title, text }: TitledText): string[] {
  const heading = title.split(' › ').at(-1)?.trim() ?? '';
  const counts = new Map<string, number>();
  const names = [...text.matchAll(NAMES)].map(([name]) => name);
  const marked = [...text.matchAll(MARKED)].flatMap(([, name]) => name ?? []);
  for (const name of [...names, ...marked]) counts.set(name, (counts.get(name) ?? 0) + 1);
  const named = [...counts].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
  return [...new Set([heading, ...named])].filter((topic) => topic !== '' && topic.length <= LONGEST);
}

/** Asks about a topic, in Chinese when its chunk is mostly Chinese. */
export function questionAbout(topic: string, { text }: Pick<TitledText, 'text'>): TopicQuestion {
  const chinese = (text.match(HAN)?.length ?? 0) > text.length / 4;
  return {
    topic,
    question: chinese ? `文档中关于“${topic}”说了些什么？` : `What do the documents say about ${topic}?`,
  };
}
