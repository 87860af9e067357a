import { z } from '@hono/zod-openapi';
import type { CitedSentence, Citation } from '../../../../src-shared/contract/chat.ts';
import type { Range } from '../../../../src-shared/contract/common.ts';

const UrlCitationSchema = z.object({
  /** Range of the sentence in the answer, in Unicode code points; the end is exclusive. */
  start_index: z.int(),
  end_index: z.int(),
  /** The document, and the UTF-16 range of the cited sentence in its text. */
  url: z.string(),
  title: z.string(),
  cited_text: z.string(),
});

export type UrlCitation = z.infer<typeof UrlCitationSchema>;

/** OpenAI's form in messages. */
export const MessageAnnotationSchema = z
  .object({ type: z.literal('url_citation'), url_citation: UrlCitationSchema })
  .openapi('Annotation');

/** OpenAI's form in responses. */
export const OutputAnnotationSchema = UrlCitationSchema.extend({
  type: z.literal('url_citation'),
}).openapi('OutputAnnotation');

/** The source sentences of an answer's sentences; `text`: the answer up to them. */
export function urlCitations(
  text: string,
  {
    sentences = [],
    passages,
  }: { sentences?: readonly CitedSentence[] | undefined; passages: readonly Citation[] },
): UrlCitation[] {
  const codePoints = (at: number): number => Array.from(text.slice(0, at)).length;
  return sentences.flatMap((sentence) => {
    const range = { start_index: codePoints(sentence.start), end_index: codePoints(sentence.end) };
    return sentence.sources.flatMap(({ citation, start, end }) => {
      const passage = passages[citation];
      if (!passage) return [];
      const url = sentenceUrl(passage, { start, end });
      return [{ ...range, url, title: passage.path, cited_text: passage.text.slice(start, end) }];
    });
  });
}

/** The address of a sentence, given by its range in a passage. */
export function sentenceUrl({ documentId, start }: Citation, sentence: Range): string {
  return `kvasir:document/${documentId ?? ''}?start=${start + sentence.start}&end=${start + sentence.end}`;
}
