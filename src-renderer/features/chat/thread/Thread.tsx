import { Button } from '@mantine/core';
import { IconArrowDown } from '@tabler/icons-react';
import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { setDraft, setPending, useChatState } from '../chat-state.ts';
import type { AskActions } from '../useAsk.ts';
import { AnswerMessage } from './AnswerMessage.tsx';
import { PendingMessage } from './PendingMessage.tsx';
import { QuestionMessage } from './QuestionMessage.tsx';
import type { ShownMessage } from './tree.ts';
import { useStickToEnd } from './useStickToEnd.ts';
import classes from './Thread.module.css';

/** The selected branch of a conversation. Scrolls with its end while the reader is there. */
export function Thread({
  stateKey,
  branch,
  busy,
  asking,
  editingId,
  onEditing,
  onSelect,
  target,
  onTarget,
  footer,
}: {
  /** Key of drafts and pending questions. */
  stateKey: string;
  branch: readonly ShownMessage[];
  busy: boolean;
  asking: AskActions;
  editingId: string | undefined;
  onEditing: (id: string | undefined) => void;
  onSelect: (messageId: string) => void;
  /** The message to show first, as for a search result; its focus is reported to `onTarget`. */
  target: string | undefined;
  onTarget: () => void;
  footer?: ReactNode;
}) {
  const { t } = useTranslation('chat');
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const pending = useChatState((state) => state.pending[stateKey]);
  // A new question scrolls to the end from anywhere.
  const questions = branch.length + (pending ? 2 : 0);
  const { atEnd, toEnd, toElement } = useStickToEnd(scroller, content, `${stateKey} ${questions}`);
  useEffect(() => {
    const found = target && content.current?.querySelector<HTMLElement>(`[data-message="${target}"]`);
    if (!found) return;
    toElement(found);
    // The composer takes the focus when it appears.
    requestAnimationFrame(() => found.focus({ preventScroll: true }));
    found.animate([{ background: 'var(--kv-highlight)' }, { background: 'transparent' }], 2000);
    onTarget();
  });
  return (
    <div className={classes.frame}>
      <div ref={scroller} className={classes.scroller} tabIndex={0} role="log" aria-label={t('thread.label')}>
        <div ref={content} className={classes.column}>
          {branch.map((shown, i) =>
            shown.message.role === 'user' ? (
              <QuestionMessage
                key={shown.message.id}
                shown={shown}
                busy={busy}
                editing={editingId === shown.message.id}
                onEditing={(editing) => onEditing(editing ? shown.message.id : undefined)}
                onEdit={(text) => void asking.edit(shown.message, text)}
                onSelect={onSelect}
              />
            ) : (
              <AnswerMessage
                key={shown.message.id}
                shown={shown}
                question={branch[i - 1]?.message.text ?? ''}
                conversationId={stateKey}
                busy={busy}
                asking={asking}
                onSelect={onSelect}
              />
            ),
          )}
          {pending && (
            <PendingMessage
              pending={pending}
              onRetry={() => void asking.ask(pending.text)}
              onDiscard={() => {
                setDraft(stateKey, pending.text);
                setPending(stateKey, undefined);
              }}
            />
          )}
          <div data-on="screen">{footer}</div>
        </div>
      </div>
      {!atEnd && (
        <Button
          className={classes.latest}
          size="compact-md"
          radius="xl"
          variant="default"
          leftSection={<IconArrowDown size={16} aria-hidden />}
          onClick={() => toEnd(true)}
        >
          {t('thread.latest')}
        </Button>
      )}
    </div>
  );
}
