import { Input, SegmentedControl } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Settings } from '../../../src-shared/settings.ts';
import { useChange } from './useChange.ts';

const THEMES = ['system', 'light', 'dark'] as const;
const LANGUAGES = ['system', 'en', 'zh'] as const;

export function AppearanceSection({ settings }: { settings: Settings }) {
  const { t } = useTranslation('settings');
  const change = useChange();
  return (
    <>
      <Input.Wrapper label={t('appearance.theme')} labelElement="div">
        <SegmentedControl
          mt={6}
          display="flex"
          w="fit-content"
          aria-label={t('appearance.theme')}
          value={settings.theme}
          data={THEMES.map((value) => ({ value, label: t(`appearance.themes.${value}`) }))}
          onChange={(theme) => change({ theme })}
        />
      </Input.Wrapper>
      <Input.Wrapper label={t('appearance.language')} labelElement="div">
        <SegmentedControl
          mt={6}
          display="flex"
          w="fit-content"
          aria-label={t('appearance.language')}
          value={settings.language}
          data={LANGUAGES.map((value) => ({ value, label: t(`appearance.languages.${value}`) }))}
          onChange={(language) => change({ language })}
        />
      </Input.Wrapper>
    </>
  );
}
