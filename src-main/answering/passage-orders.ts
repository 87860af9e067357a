import { sameTokens } from '../platform/token-bytes.ts';
import type { PromptChunk } from './passages.ts';
import { isChunk, type Message } from './prompt.ts';

/** How many orders are remembered for a model; the oldest is forgotten first. */
const REMEMBERED = 64;

type Passage = Pick<PromptChunk, 'tokens' | 'source'>;
type Order = readonly Passage[];

/**
 * The orders in which models read passages. A model that can only continue a prompt exactly reads documents again in an order that it knows,
 * so that as much as possible of the earlier prompt is continued. The passages of a document stay together and in their order.
 */
export class PassageOrders {
  readonly #known = new WeakMap<object, Order[]>();

  /** Remembers the order of the first passages of a prompt. */
  add(model: object, passages: Order): void {
    if (passages.length === 0) return;
    const others = (this.#known.get(model) ?? []).filter((order) => !isSame(order, passages));
    this.#known.set(model, [passages, ...others].slice(0, REMEMBERED));
  }

  /** A conversation's messages with the passages of its first question arranged, where no answer follows it. */
  arrangeIn(model: object, messages: readonly Message[]): readonly Message[] {
    const at = messages.findIndex(({ role }) => role === 'user');
    const asking = messages[at];
    const end = asking?.pieces.findIndex((piece) => !isChunk(piece)) ?? -1;
    if (!asking || at + 1 < messages.length || end < 0) return messages;
    const passages = asking.pieces.slice(0, end).filter(isChunk);
    const pieces = [...this.arrange(model, passages), ...asking.pieces.slice(end)];
    return messages.with(at, { ...asking, pieces });
  }

  /** The same passages: first the documents that continue a known order, then the others as given. */
  arrange<P extends Passage>(model: object, passages: readonly P[]): readonly P[] {
    let best = { first: [] as P[][], tokens: 0 };
    const given = byDocument(passages);
    for (const order of this.#known.get(model) ?? []) {
      const match = continued(order, given);
      if (match.tokens > best.tokens) best = match;
    }
    const rest = given.filter((document) => !best.first.includes(document));
    return [...best.first, ...rest].flat();
  }
}

/** The documents that begin in an order as they begin here, one after the other, and the tokens of passages that match. */
function continued<P extends Passage>(order: Order, given: readonly P[][]): { first: P[][]; tokens: number } {
  const match = { first: [] as P[][], tokens: 0 };
  for (const known of byDocument(order)) {
    const document = given.find(([passage]) => passage && known[0] && isOne(passage, known[0]));
    if (!document || match.first.includes(document)) break;
    match.first.push(document);
    const end = document.findIndex((passage, i) => !known[i] || !isOne(passage, known[i]));
    const same = document.slice(0, end < 0 ? document.length : end);
    match.tokens += same.reduce((sum, { tokens }) => sum + tokens.length, 0);
    if (same.length < Math.max(document.length, known.length)) break;
  }
  return match;
}

/** Consecutive passages of each document. */
function byDocument<P extends Passage>(passages: readonly P[]): P[][] {
  const documents: P[][] = [];
  for (const passage of passages) {
    const last = documents.at(-1);
    const source = last?.[0]?.source;
    if (last && source && source.documentId === passage.source?.documentId) last.push(passage);
    else documents.push([passage]);
  }
  return documents;
}

function isSame(a: Order, b: Order): boolean {
  return a.length === b.length && a.every((passage, i) => isOne(passage, b[i] as Passage));
}

function isOne(a: Passage, b: Passage): boolean {
  return sameTokens(a.tokens, b.tokens);
}
