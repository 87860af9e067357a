import { Button, Group, Loader, Text, VisuallyHidden } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import type { PendingQuestion } from '../chat-state.ts';
import classes from './Thread.module.css';

/** A question being sent to the core. It stays if sending failed. */
export function PendingMessage({
  pending: { text, failure },
  onRetry,
  onDiscard,
}: {
  pending: PendingQuestion;
  onRetry: () => void;
  onDiscard: () => void;
}) {
  const { t } = useTranslation('chat');
  return (
    <>
      <article className={classes.question} aria-label={t('thread.you')}>
        <VisuallyHidden component="h2">{t('thread.you')}</VisuallyHidden>
        <div className={classes.bubble}>{text}</div>
        <div className={classes.actions} />
      </article>
      {failure ? (
        <div className={classes.answer}>
          <FailureAlert failure={failure} onRetry={onRetry} />
          <Button size="compact-sm" variant="subtle" color="gray" mt={6} onClick={onDiscard}>
            {t('message.discard')}
          </Button>
        </div>
      ) : (
        <Group gap="xs" className={classes.answer} role="status">
          <Loader size={14} aria-hidden />
          <Text c="dimmed">{t('phase.sending')}</Text>
        </Group>
      )}
    </>
  );
}
