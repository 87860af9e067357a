import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { mayContinue, type Message } from '../../../../src-shared/contract/chat.ts';
import { useCall } from '../../../client/context.tsx';
import { useFormat } from '../../../ui/useFormat.ts';

/** Explains why an answer ended early, and offers to continue if possible. */
export function AnswerEnding({
  message,
  onContinue,
  onVary,
}: {
  message: Message;
  onContinue: (() => void) | undefined;
  onVary: (() => void) | undefined;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const words = useEndingWords(message);
  if (words === '') return null;
  return (
    <Group gap="sm" mt={6}>
      <Text c="dimmed">{words}</Text>
      {mayContinue(message) && (
        <Button size="compact-sm" variant="light" disabled={!onContinue} onClick={onContinue}>
          {t('common:action.continue')}
        </Button>
      )}
      {message.stats?.stop === 'repetition' && (
        <Button size="compact-sm" variant="light" disabled={!onVary} onClick={onVary}>
          {t('message.vary')}
        </Button>
      )}
    </Group>
  );
}

function useEndingWords({ state, text, thinking, stats }: Message): string {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const { data: settings } = useCall('settings.get');
  const empty = text === '' && !thinking;
  if (state === 'stopped') return t(empty ? 'message.stoppedEmpty' : 'message.stopped');
  if (state !== 'done' || !stats) return '';
  if (stats.stop === 'length' && text === '' && thinking)
    return t('message.stillThinking', { count: stats.answerTokens });
  if (stats.stop === 'length') return t('message.cutOff', { count: stats.answerTokens });
  if (stats.stop === 'repetition') return t('message.repeats');
  if (stats.stop !== 'context') return '';
  return t('message.contextFull', { tokens: format.number(settings?.contextTokens ?? 0) });
}
