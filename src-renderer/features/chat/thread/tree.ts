import type { Message } from '../../../../src-shared/contract/chat.ts';

/** A message of the branch that is shown, and its place among the branches beside it. */
export interface ShownMessage {
  message: Message;
  /** Messages with the same parent, oldest first; among them this one. */
  siblings: readonly Message[];
}

/** The branch that ends in `leafId`, from its first message. */
export function branchOf(messages: readonly Message[], leafId: string | null): ShownMessage[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const branch: ShownMessage[] = [];
  for (let at = leafId === null ? undefined : byId.get(leafId); at;) {
    const { parentId } = at;
    branch.unshift({ message: at, siblings: messages.filter((other) => other.parentId === parentId) });
    at = parentId === null ? undefined : byId.get(parentId);
  }
  return branch;
}

/** The newest end below a message: where a branch goes on when it is chosen. */
export function leafBelow(messages: readonly Message[], id: string): string {
  let leaf = id;
  for (;;) {
    const next = messages.findLast(({ parentId }) => parentId === leaf);
    if (!next) return leaf;
    leaf = next.id;
  }
}
