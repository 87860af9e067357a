import { useHotkeys } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { useCommands } from '../../ui/commands.ts';
import { useChatState } from './chat-state.ts';
import { KEYS } from './keys.ts';

/** Shortcuts and palette commands of the whole screen. */
export function useChatKeys({
  startNew,
  search,
  toggleList,
  focusComposer,
}: {
  startNew: () => void;
  search: () => void;
  toggleList: () => void;
  focusComposer: () => void;
}): void {
  const { t } = useTranslation('chat');
  const help = (): void => void useChatState.setState({ helpOpen: true });
  useHotkeys(
    [
      ['mod+shift+O', startNew],
      ['mod+shift+F', search],
      ['mod+B', toggleList],
    ],
    [],
  );
  useHotkeys([
    ['/', focusComposer],
    ['shift+?', help],
  ]);
  useCommands([
    { id: 'chat-new', label: t('help.new'), keys: KEYS.new, run: startNew },
    { id: 'chat-focus', label: t('help.focus'), keys: KEYS.focus, run: focusComposer },
    { id: 'chat-search', label: t('help.search'), keys: KEYS.search, run: search },
    { id: 'chat-list', label: t('help.sidebar'), keys: KEYS.sidebar, run: toggleList },
    { id: 'chat-help', label: t('help.title'), keys: KEYS.help, run: help },
  ]);
}
