import { ActionIcon, Textarea, Tooltip } from '@mantine/core';
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react';
import { useEffect, useId, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { NO_OPTIONS, setDraft, setQueued, useChatState } from '../chat-state.ts';
import { AttachButton } from './AttachButton.tsx';
import { isComposing } from './keys.ts';
import { MentionList } from './MentionList.tsx';
import { OptionsButton } from './OptionsButton.tsx';
import { QueuedQuestion } from './QueuedQuestion.tsx';
import { withDocuments, without, withLibrary } from './scope.ts';
import { ScopeChips } from './ScopeChips.tsx';
import type { Attach } from './useAttach.ts';
import { useDraftAhead } from './useDraftAhead.ts';
import { useMentions, type Mentionable } from './useMentions.ts';
import { useQueued } from './useQueued.ts';
import { useScope } from './useScope.ts';
import classes from './Composer.module.css';

const MAX_QUESTION = 100_000;

interface ComposerProps {
  stateKey: string;
  /** null: not created yet. */
  conversationId: string | null;
  input: RefObject<HTMLTextAreaElement | null>;
  options: ConversationOptions;
  /** An answer is being generated: it can be stopped, and the next question is queued. */
  busy: boolean;
  /** A question is being sent. */
  disabled: boolean;
  attach: Attach;
  onOptions: (change: (options: ConversationOptions) => ConversationOptions) => void;
  onAsk: (text: string) => void;
  onStop: () => void;
  onEditLast: () => void;
}

/** The input for questions. Drafts are kept per conversation. */
export function Composer(props: ComposerProps) {
  const { stateKey, conversationId, input, options, busy, disabled, attach } = props;
  const { onOptions, onAsk, onStop, onEditLast } = props;
  const { t } = useTranslation('chat');
  const listId = useId();
  const draft = useChatState((state) => state.drafts[stateKey] ?? '');
  const text = draft.trim();
  const scope = useScope(stateKey, options);
  const waits = busy || disabled || !scope.known || scope.reading.length > 0;
  const queued = useQueued(stateKey, { waits, nothing: scope.nothing, onAsk });
  const canSend = text !== '' && queued === undefined && !scope.nothing;
  useDraftAhead(conversationId, options, text);
  useEffect(() => input.current?.focus(), [input, stateKey]);
  const mentions = useMentions(input, options, ({ kind, id }: Mentionable, rest) => {
    setDraft(stateKey, rest);
    onOptions((now) => (kind === 'document' ? withDocuments(now, [id]) : withLibrary(now, id)));
  });

  const send = (): void => {
    if (!canSend) return;
    if (!waits) return onAsk(text);
    setQueued(stateKey, text);
    setDraft(stateKey, '');
  };
  const takeBack = (): void => {
    setDraft(stateKey, [queued, draft].filter((each) => each !== '').join('\n'));
    setQueued(stateKey, undefined);
    input.current?.focus();
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (isComposing(event) || mentions.onKeyDown(event)) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      send();
    } else if (event.key === 'ArrowUp' && draft === '' && !busy) {
      event.preventDefault();
      onEditLast();
    }
  };
  const onPaste = (event: React.ClipboardEvent): void => {
    // Text copied from a word processor also carries a picture of it.
    if (event.clipboardData.files.length === 0 || event.clipboardData.types.includes('text/plain')) return;
    event.preventDefault();
    attach.paste([...event.clipboardData.files]);
  };

  return (
    <div className={classes.outer}>
      {queued !== undefined && (
        <QueuedQuestion
          text={queued}
          reading={busy || disabled ? [] : scope.reading}
          onEdit={takeBack}
          onDiscard={() => setQueued(stateKey, undefined)}
        />
      )}
      <div className={classes.box}>
        <MentionList id={listId} mentions={mentions} />
        <ScopeChips
          stateKey={stateKey}
          options={options}
          scope={scope}
          onRemove={(id) => onOptions((now) => without(now, id))}
          onClear={() => onOptions((now) => ({ ...now, scope: NO_OPTIONS.scope }))}
        />
        <Textarea
          ref={input}
          variant="unstyled"
          data-skip-here
          aria-label={t('composer.label')}
          aria-autocomplete="list"
          aria-controls={mentions.offered.length > 0 ? listId : undefined}
          aria-activedescendant={mentions.offered.length > 0 ? `${listId}-${mentions.active}` : undefined}
          placeholder={t('composer.placeholder')}
          autosize
          minRows={1}
          maxRows={10}
          maxLength={MAX_QUESTION}
          value={draft}
          onChange={({ target }) => {
            setDraft(stateKey, target.value);
            mentions.look();
          }}
          onSelect={mentions.look}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          classNames={{ input: classes.input ?? '' }}
        />
        <div className={classes.foot}>
          <AttachButton attach={attach} />
          <OptionsButton options={options} onChange={(next) => onOptions(() => next)} />
          <span className={classes.hint}>{t(hintOf(scope.nothing, queued, waits))}</span>
          {busy && (
            <Tooltip label={t('composer.stop')}>
              <ActionIcon
                size={34}
                radius="xl"
                variant={text === '' ? 'filled' : 'light'}
                aria-label={t('composer.stop')}
                onClick={onStop}
              >
                <IconPlayerStopFilled size={16} />
              </ActionIcon>
            </Tooltip>
          )}
          {(!busy || text !== '') && (
            <ActionIcon
              size={34}
              radius="xl"
              variant="filled"
              aria-label={t(waits ? 'composer.sendLater' : 'composer.send')}
              disabled={!canSend}
              onClick={send}
            >
              <IconArrowUp size={19} />
            </ActionIcon>
          )}
        </div>
      </div>
    </div>
  );
}

/** The current action of Enter. */
function hintOf(nothing: boolean, queued: string | undefined, waits: boolean) {
  if (nothing) return 'composer.hintNothing';
  if (queued !== undefined) return 'composer.hintQueued';
  return waits ? 'composer.hintLater' : 'composer.hint';
}
