import { useHotkeys } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import type { Message } from '../../../src-shared/contract/chat.ts';
import { useCommands, type Command } from '../../ui/commands.ts';
import { toggleReport, useChatState } from './chat-state.ts';
import { KEYS } from './keys.ts';
import type { AskActions } from './useAsk.ts';

/** Shortcuts and palette commands of the open conversation. */
export function useConversationKeys({
  id,
  busy,
  lastAnswer,
  hasReport,
  asking,
}: {
  /** undefined: the conversation does not exist yet. */
  id: string | undefined;
  busy: boolean;
  lastAnswer: Message | undefined;
  /** Of the last answer. */
  hasReport: boolean;
  asking: AskActions;
}): void {
  const { t } = useTranslation('chat');
  const report = (): void => {
    if (id !== undefined && lastAnswer && hasReport) toggleReport(id, lastAnswer.id);
  };
  // Overlays (menu, dialog, report) handle Escape first and stop its propagation.
  const escape = (): void => {
    if (busy) asking.stop();
    else useChatState.setState({ report: null });
  };
  useHotkeys(
    [
      ['mod+.', report],
      ['mod+P', () => window.print()],
      ['Escape', escape, { preventDefault: false }],
    ],
    [],
  );
  const commands: Command[] = [];
  if (busy) commands.push({ id: 'chat-stop', label: t('help.stop'), keys: KEYS.stop, run: asking.stop });
  else if (lastAnswer) {
    commands.push({
      id: 'chat-regenerate',
      label: t('message.regenerate'),
      run: () => void asking.regenerate(lastAnswer),
    });
  }
  if (hasReport) {
    commands.push({ id: 'chat-report', label: t('help.report'), keys: KEYS.report, run: report });
  }
  if (lastAnswer) {
    commands.push({
      id: 'chat-print',
      label: t('thread.print'),
      keys: KEYS.print,
      run: () => window.print(),
    });
  }
  useCommands(commands);
}
