import { Group, Stack, Switch, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Settings } from '../../../src-shared/settings.ts';
import { useCall } from '../../client/context.tsx';
import { useChange } from './useChange.ts';

export function AboutSection({ settings }: { settings: Settings }) {
  const { t } = useTranslation('settings');
  const change = useChange();
  const { data: info } = useCall('app.info');
  if (!info) return null;
  const { host, platform, version, engine, updates } = info;
  return (
    <Group align="flex-start" gap="lg">
      <img src="./icon.svg" alt="" width={64} height={64} />
      <Stack gap={4} maw={440}>
        <Text size="md" fw={600}>
          {t('about.version', { version })}
        </Text>
        <Text c="dimmed">{t('about.engine', engine)}</Text>
        <Text c="dimmed">{t(`about.host.${host}`, { platform })}</Text>
        <Text mt="sm">{t('about.offline')}</Text>
        {updates && (
          <Switch
            mt="sm"
            label={t('about.updates')}
            description={t('about.updatesHelp')}
            checked={settings.updates}
            onChange={({ currentTarget }) => change({ updates: currentTarget.checked })}
          />
        )}
      </Stack>
    </Group>
  );
}
