import { Alert, Button, Loader, Stack, Text, Title } from '@mantine/core';
import { IconAlertTriangle, IconPlus } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ToolList } from '../../../../src-shared/contract/tools.ts';
import { useAction, useCall } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { Subtext } from '../../../ui/Subtext.tsx';
import { ownToolKey } from '../../../ui/own-tools.ts';
import { AddToolServer } from './AddToolServer.tsx';
import { ToolWords } from './ServerTools.tsx';
import { ToolServerCard } from './ToolServerCard.tsx';

/** MCP servers, and which of their tools run without asking. */
export function ToolsSection() {
  const { t } = useTranslation(['mcp', 'common', 'servers']);
  const { data: list, error, refetch } = useCall('tools.list');
  const [adds, setAdds] = useState(false);
  useReload(() => void refetch());
  useStart(list);
  return (
    <>
      {list && <OwnTools tools={list.own} />}
      <Title order={2} size="h5">
        {t('list')}
      </Title>
      <Text c="dimmed">{t('intro')}</Text>
      <Alert color="orange" icon={<IconAlertTriangle size={18} aria-hidden />} role="note">
        <Text fw={600}>{t('risk.title')}</Text>
        {t('risk.text')}
      </Alert>
      {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
      {!list && !error && <Loader aria-label={t('common:loading')} />}
      {list?.failure && (
        <Stack gap={4}>
          <FailureAlert failure={list.failure} onRetry={() => void refetch()} />
          <Text>{t('badFile')}</Text>
        </Stack>
      )}
      {list && !list.failure && (
        <Stack gap="sm" component="section" aria-label={t('list')}>
          {list.servers.length === 0 && <Text>{t('none')}</Text>}
          {list.servers.map((server) => (
            <ToolServerCard key={server.name} server={server} />
          ))}
          <Button
            variant="default"
            w="fit-content"
            leftSection={<IconPlus size={16} aria-hidden />}
            onClick={() => setAdds(true)}
          >
            {t('servers:add.open')}
          </Button>
        </Stack>
      )}
      {list && <Subtext style={{ overflowWrap: 'anywhere' }}>{t('file', { path: list.file })}</Subtext>}
      <AddToolServer opened={adds} onClose={() => setAdds(false)} />
    </>
  );
}

function OwnTools({ tools }: { tools: ToolList['own'] }) {
  const { t } = useTranslation('mcp');
  return (
    <Stack gap="xs" component="section" aria-label={t('own')}>
      <Title order={2} size="h5">
        {t('own')}
      </Title>
      <Text c="dimmed">{t('ownHelp')}</Text>
      {tools.map(({ name, title, description }) => {
        const known = ownToolKey(name);
        return (
          <ToolWords
            key={name}
            title={known ? t(`ownTools.${known}.title`) : title}
            description={known ? t(`ownTools.${known}.text`) : description}
          />
        );
      })}
    </Stack>
  );
}

/** mcp.json may have been edited: when the section opens, and when the person comes back from the editor. */
function useReload(reload: () => void): void {
  const latest = useRef(reload);
  useEffect(() => {
    latest.current = reload;
  });
  useEffect(() => {
    const run = (): void => latest.current();
    run();
    window.addEventListener('focus', run);
    return () => window.removeEventListener('focus', run);
  }, []);
}

/** Starts each server that runs not yet, so that its tools are shown. */
function useStart(list: ToolList | undefined): void {
  const { mutate } = useAction('tools.startServer');
  useEffect(() => {
    for (const { name, enabled, state } of list?.servers ?? [])
      if (enabled && state === 'off') mutate({ name });
  }, [list, mutate]);
}
