import { Text, VisuallyHidden } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { mayContinue } from '../../../../src-shared/contract/chat.ts';
import { AnswerEnding } from '../answer/AnswerEnding.tsx';
import { AnswerFailure } from '../answer/AnswerFailure.tsx';
import { AnswerFoot } from '../answer/AnswerFoot.tsx';
import { AnswerPhase } from '../answer/AnswerPhase.tsx';
import { AnswerText } from '../answer/AnswerText.tsx';
import { Notices } from '../answer/Notices.tsx';
import { Thinking } from '../answer/Thinking.tsx';
import { current, isUnfinished } from '../live/live-answers.ts';
import { useLiveAnswer } from '../live/live-store.ts';
import { BranchSwitch } from './BranchSwitch.tsx';
import { CopyAction } from './CopyAction.tsx';
import { IconAction } from './IconAction.tsx';
import type { ShownMessage } from './tree.ts';
import classes from './Thread.module.css';

interface AnswerMessageProps {
  shown: ShownMessage;
  busy: boolean;
  reportOpen: boolean;
  onReport: () => void;
  onRegenerate: (mayGuess?: boolean) => void;
  onVary: () => void;
  onContinue: () => void;
  onSelect: (id: string) => void;
}

/** An answer in any state: notices, phase, text, sources, statistics. */
export function AnswerMessage({
  shown: { message: kept, siblings },
  busy,
  reportOpen,
  onReport,
  onRegenerate,
  onVary,
  onContinue,
  onSelect,
}: AnswerMessageProps) {
  const { t } = useTranslation('chat');
  const live = useLiveAnswer(kept.id);
  const message = current(kept, live);
  const working = isUnfinished(message);
  return (
    <article className={classes.answer} aria-label={t('thread.kvasir')} aria-busy={working}>
      <VisuallyHidden component="h2">{t('thread.kvasir')}</VisuallyHidden>
      <Notices notices={message.notices} />
      {working && message.state !== 'streaming' && <AnswerPhase message={message} live={live} />}
      {message.thinking && <Thinking thinking={message.thinking} inWork={working && message.text === ''} />}
      {message.text !== '' && (
        <AnswerText
          text={message.text}
          live={live && isUnfinished(kept) ? live.split : undefined}
          unsupported={working ? undefined : message.stats?.unsupported}
        />
      )}
      {message.state === 'done' && message.text === '' && !mayContinue(message) && (
        <Text c="dimmed" size="sm">
          {t('message.empty')}
        </Text>
      )}
      {!working && (
        <AnswerEnding
          message={message}
          onContinue={busy ? undefined : onContinue}
          onVary={busy ? undefined : onVary}
        />
      )}
      {message.failure && !working && (
        <AnswerFailure
          failure={message.failure}
          kept={message.state !== 'failed'}
          onRegenerate={busy ? undefined : onRegenerate}
        />
      )}
      <AnswerFoot
        message={message}
        reportOpen={reportOpen}
        onReport={onReport}
        actions={
          !working && (
            <div className={classes.actions}>
              <BranchSwitch message={kept} siblings={siblings} onSelect={onSelect} />
              {message.text !== '' && <CopyAction text={message.text} label={t('message.copy')} />}
              <IconAction
                label={t('message.regenerate')}
                icon={<IconRefresh size={16} />}
                disabled={busy}
                onClick={() => onRegenerate()}
              />
            </div>
          )
        }
      />
    </article>
  );
}
