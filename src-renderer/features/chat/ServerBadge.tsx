import { Badge, Tooltip } from '@mantine/core';
import { IconCloudUpload, IconServer } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useReachWords } from '../../ui/server/ReachText.tsx';
import { useActiveServer } from '../../ui/server/useActiveServer.ts';

/** Names the server that receives questions; renders nothing for local models. */
export function ServerBadge() {
  const { t } = useTranslation('servers');
  const words = useReachWords();
  const active = useActiveServer();
  if (!active) return null;
  const { name, server } = active;
  const leaves = server.reach !== 'here';
  const shown = { model: name, host: server.host };
  return (
    <Tooltip label={words(server)} multiline maw={360}>
      <Badge
        maw="55%"
        tt="none"
        variant={leaves ? 'light' : 'outline'}
        color={leaves ? 'orange' : 'gray'}
        styles={{ label: { color: 'var(--mantine-color-text)' } }}
        leftSection={
          leaves ? <IconCloudUpload size={13} aria-hidden /> : <IconServer size={13} aria-hidden />
        }
        tabIndex={0}
        role="note"
        aria-label={`${t(leaves ? 'badge.leaves' : 'badge.here', shown)}. ${words(server)}`}
      >
        {t(leaves ? 'badge.leaves' : 'badge.here', shown)}
      </Badge>
    </Tooltip>
  );
}
