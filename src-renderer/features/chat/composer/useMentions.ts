import { useDebouncedValue } from '@mantine/hooks';
import { useState, type RefObject } from 'react';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { useCall } from '../../../client/context.tsx';
import { mentionAt, withoutMention, type Mention } from './mention.ts';

/** A document or library that a question can be restricted to. */
export interface Mentionable {
  kind: 'document' | 'library';
  id: string;
  name: string;
  /** A document's path; '' for a library. */
  path: string;
}

export interface Mentions {
  /** Empty if no name is being typed or none matches. */
  offered: readonly Mentionable[];
  active: number;
  choose: (one: Mentionable) => void;
  /** Reads the text before the caret. */
  look: () => void;
  /** Whether the list handled the key. */
  onKeyDown: (event: React.KeyboardEvent) => boolean;
}

const OFFERED = 8;
const TYPING_MS = 120;

/** Offers names of documents and libraries while "@" and part of a name is typed. */
export function useMentions(
  input: RefObject<HTMLTextAreaElement | null>,
  { scope }: ConversationOptions,
  onChoose: (one: Mentionable, text: string) => void,
): Mentions {
  const [mention, setMention] = useState<Mention>();
  const [active, setActive] = useState(0);
  const [search] = useDebouncedValue(mention?.query.trim() ?? '', TYPING_MS);
  const enabled = mention !== undefined;
  const { data: libraries = [] } = useCall('libraries.list', {}, { enabled });
  const query = { search, limit: OFFERED, sort: 'title' } as const;
  const { data: documents } = useCall('documents.list', query, { enabled, keepPrevious: true });
  const taken = new Set([...scope.documentIds, ...scope.libraryIds]);
  const offered = !enabled
    ? []
    : [
        ...libraries
          .filter(({ name }) => plain(name).includes(plain(search)))
          .map(({ id, name }): Mentionable => ({ kind: 'library', id, name, path: '' })),
        ...(documents?.items ?? []).map(({ id, title, path }): Mentionable => ({
          kind: 'document',
          id,
          name: title,
          path,
        })),
      ]
        .filter(({ id }) => !taken.has(id))
        .slice(0, OFFERED);
  const at = Math.min(active, offered.length - 1);

  const choose = (one: Mentionable): void => {
    const text = input.current?.value ?? '';
    setMention(undefined);
    onChoose(one, mention ? withoutMention(text, mention) : text);
    input.current?.focus();
  };
  const onKeyDown = (event: React.KeyboardEvent): boolean => {
    const one = offered[at];
    if (!one) return false;
    const keys: Record<string, (() => void) | undefined> = {
      ArrowDown: () => setActive((at + 1) % offered.length),
      ArrowUp: () => setActive((at + offered.length - 1) % offered.length),
      Enter: () => choose(one),
      Tab: () => choose(one),
      Escape: () => setMention(undefined),
    };
    const act = event.shiftKey ? undefined : keys[event.key];
    if (!act) return false;
    event.preventDefault();
    event.stopPropagation(); // Escape would otherwise stop the answer.
    act();
    return true;
  };
  return {
    offered,
    active: at,
    choose,
    onKeyDown,
    look: () => {
      const field = input.current;
      const found =
        field && field.selectionStart === field.selectionEnd
          ? mentionAt(field.value, field.selectionStart)
          : undefined;
      if (found?.query !== mention?.query) setActive(0);
      setMention(found);
    },
  };
}

/** Names that come from a disk may spell accents apart (NFD). */
function plain(text: string): string {
  return text.normalize('NFC').toLowerCase();
}
