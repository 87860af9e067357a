import { ActionIcon, Textarea, Tooltip } from '@mantine/core';
import { IconArrowUp, IconPlayerStopFilled } from '@tabler/icons-react';
import { useEffect, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { setDraft, useChatState } from '../chat-state.ts';
import { isComposing } from './keys.ts';
import { useDraftAhead } from './useDraftAhead.ts';
import { OptionsButton } from './OptionsButton.tsx';
import classes from './Composer.module.css';

const MAX_QUESTION = 100_000;

/** Where questions are written. What is typed stays with its conversation. */
export function Composer({
  stateKey,
  conversationId,
  input,
  options,
  busy,
  disabled,
  onOptions,
  onAsk,
  onStop,
  onEditLast,
}: {
  stateKey: string;
  /** null: not made yet. */
  conversationId: string | null;
  input: RefObject<HTMLTextAreaElement | null>;
  options: ConversationOptions;
  /** An answer is being made: it can be stopped, and the next question waits. */
  busy: boolean;
  /** A question is on its way. */
  disabled: boolean;
  onOptions: (options: ConversationOptions) => void;
  onAsk: (text: string) => void;
  onStop: () => void;
  onEditLast: () => void;
}) {
  const { t } = useTranslation('chat');
  const draft = useChatState((state) => state.drafts[stateKey] ?? '');
  const text = draft.trim();
  const canSend = text !== '' && !busy && !disabled;
  useDraftAhead(conversationId, options, text);
  useEffect(() => input.current?.focus(), [input, stateKey]);

  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (isComposing(event)) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      if (canSend) onAsk(text);
    } else if (event.key === 'ArrowUp' && draft === '' && !busy) {
      event.preventDefault();
      onEditLast();
    }
  };

  return (
    <div className={classes.outer}>
      <div className={classes.box}>
        <Textarea
          ref={input}
          variant="unstyled"
          aria-label={t('composer.label')}
          placeholder={t('composer.placeholder')}
          autosize
          minRows={1}
          maxRows={10}
          maxLength={MAX_QUESTION}
          value={draft}
          onChange={({ target }) => setDraft(stateKey, target.value)}
          onKeyDown={onKeyDown}
          classNames={{ input: classes.input ?? '' }}
        />
        <div className={classes.foot}>
          <OptionsButton options={options} onChange={onOptions} />
          <span className={classes.hint}>{t('composer.hint')}</span>
          {busy ? (
            <Tooltip label={t('composer.stop')}>
              <ActionIcon
                size={34}
                radius="xl"
                variant="filled"
                aria-label={t('composer.stop')}
                onClick={onStop}
              >
                <IconPlayerStopFilled size={16} />
              </ActionIcon>
            </Tooltip>
          ) : (
            <ActionIcon
              size={34}
              radius="xl"
              variant="filled"
              aria-label={t('composer.send')}
              disabled={!canSend}
              onClick={() => onAsk(text)}
            >
              <IconArrowUp size={19} />
            </ActionIcon>
          )}
        </div>
      </div>
    </div>
  );
}
