import { Textarea } from '@mantine/core';
import { useEffect, useId, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { NO_OPTIONS, setDraft } from '../chat-state.ts';
import { AttachButton } from './AttachButton.tsx';
import { isComposing } from './keys.ts';
import { MentionList } from './MentionList.tsx';
import { OptionsButton } from './OptionsButton.tsx';
import { QueuedQuestion } from './QueuedQuestion.tsx';
import { withDocuments, without, withLibrary } from './scope.ts';
import { ScopeChips } from './ScopeChips.tsx';
import { SendButtons } from './SendButtons.tsx';
import { ToolsButton } from './ToolsButton.tsx';
import type { AttachActions } from './useAttach.ts';
import { useDraftAhead } from './useDraftAhead.ts';
import { useMentions, type Mentionable } from './useMentions.ts';
import { useReadingEstimate } from './useReadingEstimate.ts';
import { useQuestion, type Question } from './useQuestion.ts';
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
  attach: AttachActions;
  onOptions: (change: (options: ConversationOptions) => ConversationOptions) => void;
  onAsk: (text: string) => void;
  onStop: () => void;
  onEditLast: () => void;
}

/** The input for questions. Drafts are kept per conversation. */
export function Composer(props: ComposerProps) {
  const { stateKey, conversationId, input, options, busy, disabled, attach } = props;
  const { onOptions, onAsk, onStop, onEditLast } = props;
  const { t } = useTranslation(['chat', 'common']);
  const listId = useId();
  const scope = useScope(stateKey, options);
  const waits = busy || disabled || !scope.known || scope.reading.length > 0;
  const question = useQuestion(stateKey, { waits, nothing: scope.nothing, onAsk });
  useDraftAhead(conversationId, options, question.text);
  const estimate = useReadingEstimate(conversationId, options, question.text);
  useEffect(() => input.current?.focus(), [input, stateKey]);
  const mentions = useMentions(input, options, ({ kind, id }: Mentionable, rest) => {
    setDraft(stateKey, rest);
    onOptions((now) => (kind === 'document' ? withDocuments(now, [id]) : withLibrary(now, id)));
  });

  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (isComposing(event) || mentions.onKeyDown(event)) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      question.send();
    } else if (event.key === 'ArrowUp' && question.draft === '' && !busy) {
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
    <div className={classes.outer} data-on="screen">
      {question.queued !== undefined && (
        <QueuedQuestion
          text={question.queued}
          reading={busy || disabled ? [] : scope.reading}
          onEdit={() => {
            question.takeBack();
            input.current?.focus();
          }}
          onDiscard={question.discard}
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
          description={estimate}
          inputWrapperOrder={['input', 'description']}
          aria-autocomplete="list"
          aria-controls={mentions.offered.length > 0 ? listId : undefined}
          aria-activedescendant={mentions.offered.length > 0 ? `${listId}-${mentions.active}` : undefined}
          placeholder={t('composer.placeholder')}
          autosize
          minRows={1}
          maxRows={10}
          maxLength={MAX_QUESTION}
          value={question.draft}
          onChange={({ target }) => {
            setDraft(stateKey, target.value);
            mentions.look();
          }}
          onSelect={mentions.look}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          classNames={{ input: classes.input ?? '', description: classes.estimate ?? '' }}
        />
        <div className={classes.foot}>
          <AttachButton attach={attach} />
          <OptionsButton options={options} onChange={(next) => onOptions(() => next)} />
          <ToolsButton options={options} onChange={(next) => onOptions(() => next)} />
          <span className={classes.hint}>{t(hintOf(scope.nothing, question))}</span>
          <SendButtons question={question} busy={busy} onStop={onStop} />
        </div>
      </div>
    </div>
  );
}

/** Someone who begins a filter sees which ones there are. */
const BEGINS_FILTER = /(?<!\S)(?:in|kind|after|before):/i;

/** The current action of Enter. */
function hintOf(nothing: boolean, { draft, queued, waits }: Question) {
  if (BEGINS_FILTER.test(draft)) return 'common:filters.help';
  if (nothing) return 'composer.hintNothing';
  if (queued !== undefined) return 'composer.hintQueued';
  return waits ? 'composer.hintLater' : 'composer.hint';
}
