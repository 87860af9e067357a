import { useComputedColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconFileText, IconMessage, IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useAction, useCall } from '../client/context.tsx';
import { useCommands, useCommandStore } from '../ui/commands.ts';
import { SCREENS } from './screens.ts';

const OFFERED = 6;
const TYPING_MS = 120;

/** The command palette (Ctrl K): screens, commands, documents by name, and conversations by content. */
export function Palette() {
  const { t } = useTranslation();
  const [query, setQuery] = useState('');
  useGlobalCommands();
  const commands = useCommandStore((state) => state.commands);
  const actions = [...commands.values()].flat().map(({ id, label, keys, run }) => ({
    id,
    label,
    onClick: run,
    ...(keys !== undefined && { description: keys }),
  }));
  const found = useFound(query);
  return (
    <Spotlight
      actions={[...actions, ...found]}
      query={query}
      onQueryChange={setQuery}
      // Spotlight clears it when it has faded out; who opens the palette again before that would type behind the old command.
      onSpotlightOpen={() => setQuery('')}
      shortcut={['mod + K']}
      tagsToIgnore={[]} // The composer has the focus most of the time.
      nothingFound={t('palette.nothing')}
      highlightQuery
      attributes={{ content: { 'aria-label': t('palette.open') } }}
      // As behind dialogs. Spotlight's default blurs the whole window: without a GPU that takes tens of milliseconds for each frame.
      overlayProps={{}}
      transitionProps={{ onExited: () => requestAnimationFrame(keepFocus) }}
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: t('palette.placeholder'),
        'aria-label': t('palette.placeholder'),
      }}
    />
  );
}

/** Results of the core's search for the typed text. */
function useFound(query: string): SpotlightActionGroupData[] {
  const { t } = useTranslation(['common', 'chat']);
  const [, navigate] = useLocation();
  const [search] = useDebouncedValue(query.trim(), TYPING_MS);
  const enabled = search.length > 1;
  const { data: documents } = useCall(
    'documents.list',
    { search, limit: OFFERED, sort: 'title' },
    { enabled },
  );
  const { data: conversations } = useCall('chat.list', { search }, { enabled });
  if (!enabled) return [];
  // The core has already searched; do not filter its results again.
  const keywords = query;
  return [
    {
      group: t('nav.library'),
      actions: (documents?.items ?? []).map(({ id, title, path }) => ({
        id: `document-${id}`,
        label: title,
        description: path,
        keywords,
        leftSection: <IconFileText size={18} aria-hidden />,
        onClick: () => navigate(`/document/${encodeURIComponent(id)}`),
      })),
    },
    {
      group: t('palette.conversations'),
      actions: (conversations ?? []).slice(0, OFFERED).map(({ id, title, snippet, match }) => ({
        id: `conversation-${id}`,
        label: title === '' ? t('chat:thread.untitled') : title,
        description: snippet,
        keywords,
        leftSection: <IconMessage size={18} aria-hidden />,
        onClick: () => navigate(match?.messageId ? `/chat/${id}?message=${match.messageId}` : `/chat/${id}`),
      })),
    },
  ].filter(({ actions }) => actions.length > 0);
}

/** The previously focused element may have disappeared with its screen, so the focus moves to the new screen. */
function keepFocus(): void {
  if (document.activeElement === document.body) document.getElementById('content')?.focus();
}

function useGlobalCommands(): void {
  const { t, i18n } = useTranslation(['common', 'analysis']);
  const [, navigate] = useLocation();
  const scheme = useComputedColorScheme('light');
  const update = useAction('settings.update');
  useCommands([
    ...SCREENS.map(({ name, path }) => ({
      id: `go-${name}`,
      label: t('palette.goTo', { place: t(`nav.${name}`) }),
      run: () => navigate(path),
    })),
    { id: 'new-chat', label: t('palette.newChat'), run: () => navigate('/') },
    { id: 'add-documents', label: t('palette.addDocuments'), run: () => navigate('/library') },
    { id: 'analyse', label: t('analysis:new.document'), run: () => navigate('/analysis/new') },
    { id: 'ask-many', label: t('palette.askMany'), run: () => navigate('/analysis/new?kind=questions') },
    {
      id: 'theme',
      label: t('palette.theme'),
      run: () => update.mutate({ theme: scheme === 'dark' ? 'light' : 'dark' }),
    },
    {
      id: 'language',
      label: t('palette.language'),
      run: () => update.mutate({ language: i18n.language === 'zh' ? 'en' : 'zh' }),
    },
  ]);
}
