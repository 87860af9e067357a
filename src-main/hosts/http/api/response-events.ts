import { randomUUID } from 'node:crypto';
import type { ToolCall, ToolCallDelta } from '../../../answering/tools.ts';
import type { CompletionResult } from '../../../completions/types.ts';
import type { ErrorBody } from '../errors.ts';
import { urlCitations, type UrlCitation } from './annotations.ts';
import type { EventSender } from './events.ts';
import type { OutputItem, ResponseBody } from './responses-schemas.ts';

/** Names of the two kinds of answer text in response streams. */
const KINDS = {
  reasoning: { part: 'reasoning_text', event: 'response.reasoning_text', prefix: 'rs' },
  message: { part: 'output_text', event: 'response.output_text', prefix: 'msg' },
} as const;

type Kind = keyof typeof KINDS;

/** The item that is being written. */
interface OpenItem {
  kind: Kind;
  id: string;
  text: string;
  annotations: ({ type: 'url_citation' } & UrlCitation)[];
}

interface OpenCall extends Omit<ToolCall, 'id'> {
  id: string;
  call_id: string;
}

/** An answer as the events of a response: created, its items piece by piece, completed. */
export class ResponseEvents {
  #send: EventSender | undefined;
  readonly #done: OutputItem[] = [];
  #open: OpenItem | undefined;
  #call: OpenCall | undefined;
  #number = 0;

  /** Sets the receiver; without one nothing is sent. */
  to(send: EventSender): void {
    this.#send = send;
  }

  begin(response: ResponseBody): void {
    this.#tell('response.created', { response });
    this.#tell('response.in_progress', { response });
  }

  write(kind: Kind, delta: string): void {
    const open = this.#opened(kind);
    open.text += delta;
    this.#tell(`${KINDS[kind].event}.delta`, { ...this.#place(open), delta, ...logprobsOf(kind) });
  }

  call({ id, name = '', arguments: delta }: ToolCallDelta): void {
    if (id !== undefined) {
      this.#close('completed');
      this.#call = { id: `fc_${randomUUID()}`, call_id: id, name, arguments: '' };
      this.#tell('response.output_item.added', { ...this.#at(), item: callItem(this.#call, 'in_progress') });
    }
    if (!this.#call || delta === '') return;
    this.#call.arguments += delta;
    this.#tell('response.function_call_arguments.delta', { item_id: this.#call.id, ...this.#at(), delta });
  }

  /** Adds what the sentences that ended in the message rest on. */
  cite(cited: Parameters<typeof urlCitations>[1]): void {
    const open = this.#opened('message');
    for (const citation of urlCitations(open.text, cited)) {
      const annotation = { type: 'url_citation', ...citation } as const;
      const annotation_index = open.annotations.push(annotation) - 1;
      this.#tell('response.output_text.annotation.added', {
        ...this.#place(open),
        annotation_index,
        annotation,
      });
    }
  }

  /** Returns the items that were written. */
  end(status: 'completed' | 'incomplete'): OutputItem[] {
    // An empty answer is an item, too.
    if (!this.#call && !this.#done.some(({ type }) => type === 'function_call')) this.#opened('message');
    this.#close(status);
    return this.#done;
  }

  finish(response: ResponseBody): void {
    this.#tell(`response.${response.status}`, { response });
  }

  failed({ message, param, code }: ErrorBody['error']): void {
    this.#tell('error', { message, param, code });
  }

  #opened(kind: Kind): OpenItem {
    if (this.#open?.kind === kind) return this.#open;
    this.#close('completed');
    const open = { kind, id: `${KINDS[kind].prefix}_${randomUUID()}`, text: '', annotations: [] };
    this.#open = open;
    const { item_id, ...at } = this.#place(open);
    const item = { ...itemOf(open, 'in_progress'), content: [] };
    this.#tell('response.output_item.added', { output_index: at.output_index, item });
    this.#tell('response.content_part.added', { item_id, ...at, part: partOf(open) });
    return open;
  }

  #close(status: 'completed' | 'incomplete'): void {
    if (this.#call) this.#closeCall(this.#call, status);
    const open = this.#open;
    if (!open) return;
    const { kind, text } = open;
    const place = this.#place(open);
    const item = itemOf(open, status) as OutputItem;
    this.#tell(`${KINDS[kind].event}.done`, { ...place, text, ...logprobsOf(kind) });
    this.#tell('response.content_part.done', { ...place, part: partOf(open) });
    this.#tell('response.output_item.done', { output_index: place.output_index, item });
    this.#done.push(item);
    this.#open = undefined;
  }

  #closeCall(call: OpenCall, status: 'completed' | 'incomplete'): void {
    const { id, name, arguments: given } = call;
    const item = callItem(call, status) as OutputItem;
    this.#tell('response.function_call_arguments.done', {
      item_id: id,
      ...this.#at(),
      name,
      arguments: given,
    });
    this.#tell('response.output_item.done', { ...this.#at(), item });
    this.#done.push(item);
    this.#call = undefined;
  }

  #place({ id }: OpenItem) {
    return { item_id: id, ...this.#at(), content_index: 0 };
  }

  #at() {
    return { output_index: this.#done.length };
  }

  #tell(type: string, fields: object): void {
    this.#send?.({ type, sequence_number: this.#number++, ...fields }, type);
  }
}

/** The items of an answer that is not streamed. */
export function outputOf(
  { thought, text, calls, made, citations }: CompletionResult,
  status: 'completed' | 'incomplete',
): OutputItem[] {
  const events = new ResponseEvents();
  if (thought !== '') events.write('reasoning', thought);
  if (text !== '') {
    events.write('message', text);
    events.cite({ sentences: made.stats.sentences, passages: citations });
  }
  for (const [index, call] of calls.entries()) events.call({ index, ...call });
  return events.end(status);
}

function callItem(call: OpenCall, status: string): object {
  return { type: 'function_call', ...call, status };
}

function itemOf(open: OpenItem, status: string): object {
  const { kind, id } = open;
  const content = [partOf(open)];
  if (kind === 'reasoning') return { type: 'reasoning', id, summary: [], content };
  return { type: 'message', id, status, role: 'assistant', content };
}

function partOf({ kind, text, annotations }: OpenItem): object {
  const { part } = KINDS[kind];
  return kind === 'reasoning'
    ? { type: part, text }
    : { type: part, text, annotations: [...annotations], logprobs: [] };
}

function logprobsOf(kind: Kind): object {
  return kind === 'message' ? { logprobs: [] } : {};
}
