import { CitedSentences } from '../../../../completions/cited-sentences.ts';
import type { PromptUsage } from '../../../../answering/backends/backend.ts';
import type { CompletionDelta, CompletionResult } from '../../../../completions/types.ts';
import type { ToolCallDelta } from '../../../../answering/tools.ts';
import type { Citation, CitedSentence } from '../../../../../src-shared/contract/chat.ts';
import { sentenceUrl } from '../annotations.ts';
import { argumentsOf } from '../tools.ts';
import type { EventSender } from '../events.ts';
import { citationsOf, howMade } from '../request-fields.ts';
import { citablesOf, type Citable, type SentPrompt } from './prompt.ts';
import type { AnswerBlock, Location, MessageBody, TextBlock } from './schemas.ts';

/** An answer as blocks of text and calls, streamed as they are written. A sentence with citations is a separate block. */
export class MessageBlocks {
  readonly blocks: AnswerBlock[] = [];
  readonly #send: EventSender | undefined;
  #isOpen = false;
  /** The arguments of the call that is being written, as text. */
  #input = '';

  /** Without `send` nothing is sent before the end. */
  constructor(send?: EventSender) {
    this.#send = send;
  }

  add(text: string, citations: readonly Location[]): void {
    if (text === '') return;
    if (citations.length > 0) this.end();
    const block = this.#opened(citations.length > 0);
    block.text += text;
    this.#delta({ type: 'text_delta', text });
    if (citations.length === 0) return;
    block.citations?.push(...citations);
    for (const citation of citations) this.#delta({ type: 'citations_delta', citation });
    this.end();
  }

  call({ id, name = '', arguments: more }: ToolCallDelta): void {
    if (id !== undefined) {
      this.end();
      this.#open({ type: 'tool_use', id, name, input: {} });
    }
    if (more === '') return;
    this.#input += more;
    this.#delta({ type: 'input_json_delta', partial_json: more });
  }

  end(): void {
    const last = this.blocks.at(-1);
    if (last?.type === 'tool_use' && this.#isOpen) last.input = argumentsOf(this.#input);
    this.#input = '';
    if (this.#isOpen) this.#tell('content_block_stop', {});
    this.#isOpen = false;
  }

  #opened(cites: boolean): TextBlock {
    const last = this.blocks.at(-1);
    if (this.#isOpen && last?.type === 'text') return last;
    this.end();
    const block: TextBlock = { type: 'text', text: '', citations: cites ? [] : null };
    this.#open(block);
    return block;
  }

  #open(block: AnswerBlock): void {
    this.blocks.push(block);
    this.#isOpen = true;
    this.#tell('content_block_start', { content_block: block });
  }

  #delta(delta: object): void {
    this.#tell('content_block_delta', { delta });
  }

  #tell(type: string, fields: object): void {
    this.#send?.({ type, index: this.blocks.length - 1, ...fields }, type);
  }
}

interface MessageWriterOptions {
  prompt: SentPrompt;
  blocks: MessageBlocks;
  /** Whether a library answers, which cites its passages. */
  isLibrary: boolean;
}

/** Writes an answer into blocks: as it arrives or, if documents are cited, by sentences. */
export class MessageWriter {
  readonly #options: MessageWriterOptions;
  readonly #blocks: MessageBlocks;
  #sentences: CitedSentences<Citable> | undefined;
  /** Of a library's answer: what is not in a block yet, and the length of what is. */
  #held = '';
  #length = 0;

  constructor(options: MessageWriterOptions) {
    this.#options = options;
    this.#blocks = options.blocks;
  }

  write({ text, cited }: CompletionDelta): void {
    const { prompt, isLibrary } = this.#options;
    if (isLibrary) {
      this.#held += text;
      for (const { start, end, sources } of cited?.sentences ?? []) {
        this.#addUpTo(start, []);
        this.#addUpTo(
          end,
          sources.flatMap((source) => locationsOf(source, cited?.passages ?? [])),
        );
      }
      return;
    }
    const { documents, question } = prompt;
    if (!documents.some(({ cited }) => cited)) return this.#blocks.add(text, []);
    // Not before there is an answer: a prompt that is too long has none.
    this.#sentences ??= new CitedSentences(citablesOf(documents), question);
    this.#add(this.#sentences.push(text));
  }

  call(delta: ToolCallDelta): void {
    this.#add(this.#sentences?.flush() ?? []);
    this.#blocks.call(delta);
  }

  end(): void {
    this.#add(this.#sentences?.flush() ?? []);
    this.#blocks.add(this.#held, []);
    this.#blocks.end();
  }

  #addUpTo(end: number, citations: readonly Location[]): void {
    const text = this.#held.slice(0, end - this.#length);
    this.#held = this.#held.slice(text.length);
    this.#length += text.length;
    this.#blocks.add(text, citations);
  }

  #add(sentences: ReturnType<CitedSentences<Citable>['push']>): void {
    for (const { text, sources } of sentences)
      this.#blocks.add(
        text,
        sources.map(({ location }) => location),
      );
  }
}

function locationsOf(
  { citation, ...sentence }: CitedSentence['sources'][number],
  passages: readonly Citation[],
): Location[] {
  const passage = passages[citation];
  if (!passage) return [];
  return [
    {
      type: 'search_result_location',
      cited_text: passage.text.slice(sentence.start, sentence.end),
      search_result_index: citation,
      source: sentenceUrl(passage, sentence),
      title: passage.path,
      start_block_index: 0,
      end_block_index: 1,
    },
  ];
}

/** A remote model reports prompt usage only with the end of its answer. */
const UNTOLD: PromptUsage = { promptTokens: 0, cachedTokens: 0, storedTokens: 0 };

/** The message before anything is written. */
export function begunMessage(id: string, model: string, prompt = UNTOLD): MessageBody {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf({ ...prompt, completionTokens: 0 }),
  };
}

/** Fields known once it is written. */
export function endedMessage(
  result: CompletionResult,
): Pick<MessageBody, 'stop_reason' | 'stop_sequence' | 'usage' | 'citations' | 'kvasir'> {
  const { finish, stoppedBy } = result;
  const stop = stoppedBy === undefined ? 'end_turn' : 'stop_sequence';
  const reasons = { length: 'max_tokens', tool_calls: 'tool_use', stop } as const;
  return {
    stop_reason: reasons[finish],
    stop_sequence: stoppedBy ?? null,
    usage: usageOf(result.usage),
    ...citationsOf(result),
    kvasir: howMade(result),
  };
}

/**
 * Counts every prompt token once: read, written, or neither. A token in a known prefix that is stored again counts as
 * read.
 */
export function usageOf({
  promptTokens,
  cachedTokens,
  storedTokens,
  completionTokens,
}: PromptUsage & Pick<CompletionResult['usage'], 'completionTokens'>): MessageBody['usage'] {
  const created = Math.min(storedTokens, promptTokens - cachedTokens);
  return {
    input_tokens: promptTokens - cachedTokens - created,
    cache_read_input_tokens: cachedTokens,
    cache_creation_input_tokens: created,
    output_tokens: completionTokens,
  };
}
