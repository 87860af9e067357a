import type { Message } from '../../../../src-shared/contract/chat.ts';

/** A message of the selected branch, and its position among its siblings. */
export interface ShownMessage {
  message: Message;
  /** Messages with the same parent, oldest first, including this one. */
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

/** The newest leaf below a message: selecting a branch continues there. */
export function leafBelow(messages: readonly Message[], id: string): string {
  let leaf = id;
  for (;;) {
    const next = messages.findLast(({ parentId }) => parentId === leaf);
    if (!next) return leaf;
    leaf = next.id;
  }
}
