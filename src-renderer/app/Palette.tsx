import { useComputedColorScheme } from '@mantine/core';
import { Spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useLocation } from 'wouter';
import { useAction } from '../client/context.tsx';
import { useCommands, useCommandStore } from '../ui/commands.ts';
import { SCREENS } from './screens.ts';

/** The command palette (Ctrl K): every screen, and what the screen that is shown offers. */
export function Palette() {
  const { t } = useTranslation();
  useGlobalCommands();
  const commands = useCommandStore((state) => state.commands);
  const actions = [...commands.values()].flat().map(({ id, label, keys, run }) => ({
    id,
    label,
    onClick: run,
    ...(keys !== undefined && { description: keys }),
  }));
  return (
    <Spotlight
      actions={actions}
      shortcut={['mod + K']}
      tagsToIgnore={[]} // the question's field has the focus most of the time
      nothingFound={t('palette.nothing')}
      highlightQuery
      attributes={{ content: { 'aria-label': t('palette.open') } }}
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

/** What had the focus before may have gone with its screen; the keyboard goes on from the new one. */
function keepFocus(): void {
  if (document.activeElement === document.body) document.getElementById('content')?.focus();
}

function useGlobalCommands(): void {
  const { t, i18n } = useTranslation();
  const [, navigate] = useLocation();
  const scheme = useComputedColorScheme('light');
  const update = useAction('settings.update');
  useCommands([
    ...SCREENS.map(({ name, path }) => ({
      id: `go-${name}`,
      label: t('palette.goTo', { place: t(`nav.${name}`) }),
      run: () => navigate(path),
    })),
    { id: 'analyse', label: t('palette.analyse'), run: () => navigate('/analysis/new') },
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
