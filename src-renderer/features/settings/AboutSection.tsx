import { Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../client/context.tsx';

export function AboutSection() {
  const { t } = useTranslation('settings');
  const { data: info } = useCall('app.info');
  if (!info) return null;
  const { host, platform, version, engine } = info;
  return (
    <Group align="flex-start" gap="lg">
      <img src="./icon.svg" alt="" width={64} height={64} />
      <Stack gap={4} maw={440}>
        <Text fw={600}>{t('about.version', { version })}</Text>
        <Text size="sm" c="dimmed">
          {t('about.engine', engine)}
        </Text>
        <Text size="sm" c="dimmed">
          {t(`about.host.${host}`, { platform })}
        </Text>
        <Text size="sm" mt="sm">
          {t('about.offline')}
        </Text>
      </Stack>
    </Group>
  );
}
