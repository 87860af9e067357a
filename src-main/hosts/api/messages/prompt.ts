import { sentencesOf } from '../../../answering/highlights.ts';
import type { Source } from '../../../completions/cited-sentences.ts';
import type { CompletionMessage, CompletionText } from '../../../completions/types.ts';
import { textsOf } from '../told.ts';
import type { CountRequest, DocumentBlock, Location } from './schemas.ts';

/** A document of a request. */
export interface SentDocument {
  title: string | null;
  /** Whether answers cite it. */
  cited: boolean;
  /** A text, or the blocks it was sent as. */
  content: string | readonly string[];
}

export interface SentPrompt {
  messages: CompletionMessage[];
  /** In the order of the request. */
  documents: SentDocument[];
  /** What the user said last, without documents. */
  question: string;
}

/** Something of a document that can be cited. */
export interface Citable extends Source {
  location: Location;
}

type Content = CountRequest['messages'][number]['content'];

/** From Anthropic's blocks to text and chunks: documents are chunks, and so is what is marked to be cached. */
export function promptOf(
  { system, messages }: Pick<CountRequest, 'system' | 'messages'>,
  separator: string | undefined,
): SentPrompt {
  const documents: SentDocument[] = [];
  const partsOf = (content: Content): CompletionText[] =>
    typeof content === 'string'
      ? textsOf(content, separator)
      : content.flatMap((block) => {
          if (block.type === 'text')
            return textsOf([{ text: block.text, ...(block.cache_control && { cache: true }) }], separator);
          const document = documentOf(block);
          documents.push(document);
          return documentParts(document, block.context ?? '');
        });
  const sent = messages.map(({ role, content }): CompletionMessage => ({ role, parts: partsOf(content) }));
  const said = partsOf(system ?? '');
  const first: CompletionMessage[] = said.length > 0 ? [{ role: 'system', parts: said }] : [];
  return { messages: [...first, ...sent], documents, question: questionIn(messages) };
}

function documentOf({ source, title, citations }: DocumentBlock): SentDocument {
  const content =
    source.type === 'text'
      ? source.data
      : source.type === 'base64'
        ? Buffer.from(source.data, 'base64').toString('utf8')
        : typeof source.content === 'string'
          ? source.content
          : source.content.map(({ text }) => text);
  return { title: title ?? null, cited: citations?.enabled === true, content };
}

/** What a document is called stands before its chunks, not in them: by another name they are the same. */
function documentParts({ title, content }: SentDocument, context: string): CompletionText[] {
  const heading = [title ?? '', context].filter((line) => line !== '');
  const chunks = [content].flat().filter((text) => text !== '');
  return [
    ...heading.map((line) => ({ text: `${line}\n\n`, cache: false })),
    ...chunks.map((text) => ({ text: `${text}\n\n`, cache: true, title: title || undefined })),
  ];
}

function questionIn(messages: CountRequest['messages']): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

/** What of the documents can be cited: sentences of a text, and blocks as they were sent. */
export function citablesOf(documents: readonly SentDocument[]): Citable[] {
  return documents.flatMap(({ title, cited, content }, index) => {
    if (!cited) return [];
    const place = { document_index: index, document_title: title };
    const citables = typeof content === 'string' ? sentencesIn(content) : blocksIn(content);
    return citables.map((found) => ({
      text: found.cited_text,
      document: index + 1,
      location: { ...found, ...place, file_id: null },
    }));
  });
}

function sentencesIn(text: string) {
  let [units, characters] = [0, 0];
  const index = (at: number): number => {
    characters += Array.from(text.slice(units, at)).length;
    units = at;
    return characters;
  };
  return sentencesOf(text).map(({ start, end }) => ({
    type: 'char_location' as const,
    cited_text: text.slice(start, end),
    start_char_index: index(start),
    end_char_index: index(end),
  }));
}

function blocksIn(blocks: readonly string[]) {
  return blocks.map((text, i) => ({
    type: 'content_block_location' as const,
    cited_text: text,
    start_block_index: i,
    end_block_index: i + 1,
  }));
}
