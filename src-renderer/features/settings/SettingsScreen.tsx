import { Loader, NavLink, Stack } from '@mantine/core';
import {
  IconDatabase,
  IconFileText,
  IconInfoCircle,
  IconMessageCircle,
  IconPalette,
  IconServerCog,
  IconShare,
  IconTools,
} from '@tabler/icons-react';
import { useState, type ComponentType } from 'react';
import { useTranslation } from 'react-i18next';
import { useSearch } from 'wouter';
import type { Settings } from '../../../src-shared/settings.ts';
import { useCall } from '../../client/context.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { Page } from '../../ui/Page.tsx';
import { AboutSection } from './AboutSection.tsx';
import { AnswersSection } from './AnswersSection.tsx';
import { AppearanceSection } from './AppearanceSection.tsx';
import { DataSection } from './DataSection.tsx';
import { DocumentsSection } from './DocumentsSection.tsx';
import { EngineSection } from './EngineSection.tsx';
import { SharingSection } from './sharing/SharingSection.tsx';
import { ToolsSection } from './tools/ToolsSection.tsx';
import classes from './SettingsScreen.module.css';

const SECTIONS = [
  { name: 'appearance', icon: IconPalette, section: AppearanceSection },
  { name: 'answers', icon: IconMessageCircle, section: AnswersSection },
  { name: 'documents', icon: IconFileText, section: DocumentsSection },
  { name: 'tools', icon: IconTools, section: ToolsSection },
  { name: 'engine', icon: IconServerCog, section: EngineSection },
  { name: 'sharing', icon: IconShare, section: SharingSection },
  { name: 'data', icon: IconDatabase, section: DataSection },
  { name: 'about', icon: IconInfoCircle, section: AboutSection },
] as const satisfies readonly { section: ComponentType<{ settings: Settings }>; [key: string]: unknown }[];

export default function SettingsScreen() {
  const { t } = useTranslation(['settings', 'common']);
  const { data: settings, error, refetch } = useCall('settings.get');
  const asked = new URLSearchParams(useSearch()).get('section');
  const [shown, setShown] = useState(SECTIONS.find(({ name }) => name === asked)?.name ?? 'appearance');
  const Section = SECTIONS.find(({ name }) => name === shown)?.section ?? AppearanceSection;
  return (
    <Page title={t('title')} subtitle={t('subtitle')} scroll={false}>
      <div className={classes.columns}>
        <nav aria-label={t('sections.label')} className={classes.sections}>
          {SECTIONS.map(({ name, icon: Icon }) => (
            <NavLink
              key={name}
              component="button"
              label={t(`sections.${name}`)}
              leftSection={<Icon size={18} stroke={1.6} aria-hidden />}
              active={name === shown}
              aria-current={name === shown ? 'true' : undefined}
              onClick={() => setShown(name)}
              className={classes.section}
            />
          ))}
        </nav>
        <section className={classes.form} aria-label={t(`sections.${shown}`)}>
          {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
          {!settings && !error && <Loader aria-label={t('common:loading')} />}
          {settings && (
            <Stack gap="lg" maw={640}>
              <Section settings={settings} />
            </Stack>
          )}
        </section>
      </div>
    </Page>
  );
}
