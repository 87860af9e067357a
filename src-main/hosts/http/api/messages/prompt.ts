import { contextOf, sentencesOf } from '../../../../answering/citing/sentences.ts';
import type { Source } from '../../../../completions/cited-sentences.ts';
import type { CompletionMessage, CompletionText } from '../../../../completions/types.ts';
import type { SentDocuments } from '../../../../library/sent-documents.ts';
import { textsOf } from '../request-fields.ts';
import type { CountRequest, DocumentBlock, Location } from './schemas.ts';

type PdfContent = Awaited<ReturnType<SentDocuments['read']>>;

export interface SentDocument {
  title: string | null;
  /** Whether answers cite it. */
  cited: boolean;
  /** A text, the blocks it was sent as, or the content of a PDF. */
  content: string | readonly string[] | PdfContent;
}

export interface SentPrompt {
  messages: CompletionMessage[];
  /** In request order. */
  documents: SentDocument[];
  /** The user's last text, without documents. */
  question: string;
}

/** A citable part of a document. */
export interface Citable extends Source {
  location: Location;
}

type Content = CountRequest['messages'][number]['content'];

/** Converts Anthropic's blocks to text and chunks: documents and blocks marked for caching are chunks. */
export function promptOf(
  { system, messages }: Pick<CountRequest, 'system' | 'messages'>,
  separator: string | undefined,
  pdfs: ReadonlyMap<DocumentBlock, PdfContent>,
): SentPrompt {
  const documents: SentDocument[] = [];
  const partsOf = (content: NonNullable<Content>): CompletionText[] =>
    typeof content === 'string'
      ? textsOf(content, separator)
      : content.flatMap((block) => {
          if (block.type !== 'text' && block.type !== 'document') return [];
          if (block.type === 'text')
            return textsOf([{ text: block.text, ...(block.cache_control && { cache: true }) }], separator);
          const document = documentOf(block, pdfs.get(block));
          documents.push(document);
          return documentParts(document, block.context ?? '');
        });
  const sent = messages.flatMap(({ role, content = '' }): CompletionMessage[] => {
    const blocks = typeof content === 'string' ? [] : [...content];
    const results = blocks
      .filter((block) => block.type === 'tool_result')
      .map(({ tool_use_id: callId, content: result }): CompletionMessage => {
        return { role: 'tool', callId, parts: partsOf(result ?? '') };
      });
    const calls = blocks
      .filter((block) => block.type === 'tool_use')
      .map(({ id, name, input }) => ({ id, name, arguments: JSON.stringify(input) }));
    const parts = partsOf(content);
    if (results.length > 0 && parts.length === 0) return results;
    return [...results, { role, parts, ...(calls.length > 0 && { calls }) }];
  });
  const said = system ? partsOf(system) : [];
  const first: CompletionMessage[] = said.length > 0 ? [{ role: 'system', parts: said }] : [];
  return { messages: [...first, ...sent], documents, question: questionIn(messages) };
}

export function documentsIn(messages: CountRequest['messages']): DocumentBlock[] {
  return messages
    .flatMap(({ content = '' }) => (typeof content === 'string' ? [] : [...content]))
    .filter((block) => block.type === 'document');
}

/** Reads the PDFs of a request, each once, in order. Errors as SentDocuments.read. */
export async function readPdfs(
  messages: CountRequest['messages'],
  documents: Pick<SentDocuments, 'read'>,
  signal: AbortSignal,
): Promise<Map<DocumentBlock, PdfContent>> {
  const read = new Map<DocumentBlock, PdfContent>();
  for (const [i, block] of documentsIn(messages).entries()) {
    const { source, title } = block;
    if (source.type !== 'base64' || source.media_type !== 'application/pdf') continue;
    const bytes = Buffer.from(source.data, 'base64');
    const name = title ?? `document ${i + 1}`;
    read.set(block, await documents.read({ bytes, name, format: 'pdf' }, signal));
  }
  return read;
}

function documentOf({ source, title, citations }: DocumentBlock, pdf: PdfContent | undefined): SentDocument {
  return { title: title ?? null, cited: citations?.enabled === true, content: pdf ?? contentOf(source) };
}

function contentOf(source: DocumentBlock['source']): string | string[] {
  if (source.type === 'text') return source.data;
  if (source.type === 'base64') return Buffer.from(source.data, 'base64').toString('utf8');
  return typeof source.content === 'string' ? source.content : source.content.map(({ text }) => text);
}

/** A document's title precedes its chunks and is not part of them, so renaming it does not change them. */
function documentParts({ title, content }: SentDocument, context: string): CompletionText[] {
  const heading = [title ?? '', context].filter((line) => line !== '');
  const chunks = textsIn(content).filter((text) => text !== '');
  return [
    ...heading.map((line) => ({ text: `${line}\n\n`, cache: false })),
    ...chunks.map((text) => ({ text: `${text}\n\n`, cache: true, title: title || undefined })),
  ];
}

/** Each is a chunk. */
function textsIn(content: SentDocument['content']): readonly string[] {
  if (typeof content === 'string') return [content];
  return 'chunks' in content ? content.chunks : content;
}

function questionIn(messages: CountRequest['messages']): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (typeof content === 'string') return content;
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

/** The citable parts: sentences of a text or a PDF, and blocks as they were sent. */
export function citablesOf(documents: readonly SentDocument[]): Citable[] {
  return documents.flatMap(({ title, cited, content }, index) => {
    if (!cited) return [];
    const place = { document_index: index, document_title: title };
    const places = placesIn(content);
    const texts = places.map((found) => found.cited_text);
    return places.map((found, i) => ({
      text: found.cited_text,
      context: contextOf(texts, i, title ?? ''),
      document: index + 1,
      location: { ...found, ...place, file_id: null },
    }));
  });
}

function placesIn(content: SentDocument['content']) {
  if (typeof content === 'string') return sentencesIn(content);
  return 'chunks' in content ? pagesIn(content) : blocksIn(content);
}

/** A line break within a paragraph that does not begin a list item. */
const WRAPPED_LINE = /(?<!\n)\n(?!\n|[ \t]*(?:[-*+•>|]|\d+[.)])[ \t|])/g;

/** Page numbers count from 1, independent of printed numbers; the end is exclusive. */
function pagesIn({ text, pages }: PdfContent) {
  const pageAt = (at: number): number => pages.findLastIndex(({ start }) => start <= at) + 1;
  // Joining lines does not change any offsets.
  return sentencesOf(text.replaceAll(WRAPPED_LINE, ' ')).map(({ start, end }) => ({
    type: 'page_location' as const,
    cited_text: text.slice(start, end),
    start_page_number: pageAt(start),
    end_page_number: pageAt(end - 1) + 1,
  }));
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
