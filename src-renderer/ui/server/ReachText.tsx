import { Group, Text } from '@mantine/core';
import { IconCloudUpload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ServerFacts } from '../../../src-shared/contract/servers.ts';

type ConnectionFacts = Pick<ServerFacts, 'host' | 'reach' | 'secure'>;

/** Where questions and passages go with a remote model, in one or two sentences. */
export function useReachWords(): (way: ConnectionFacts) => string {
  const { t } = useTranslation('servers');
  return ({ host, reach, secure }) =>
    [t(`reach.${reach}`, { host }), ...(reach === 'here' || secure ? [] : [t('readable')])].join(' ');
}

/** The same as a visible alert. */
export function ReachText(way: ConnectionFacts) {
  const words = useReachWords();
  if (way.reach === 'here')
    return (
      <Text c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {words(way)}
      </Text>
    );
  return (
    <Group gap={6} wrap="nowrap" align="flex-start">
      <IconCloudUpload
        size={18}
        color="var(--mantine-color-orange-6)"
        style={{ flexShrink: 0, marginTop: 2 }}
        aria-hidden
      />
      <Text fw={500} miw={0} style={{ overflowWrap: 'anywhere' }}>
        {words(way)}
      </Text>
    </Group>
  );
}
