import { ActionIcon, Anchor, Badge, Button, Code, Group, Paper, Stack, Switch, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ToolServer } from '../../../../src-shared/contract/tools.ts';
import { reachOf } from '../../../../src-shared/reach.ts';
import { useAction } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { Subtext } from '../../../ui/Subtext.tsx';
import { askToConfirm } from '../../../ui/confirm.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';
import { ServerTools } from './ServerTools.tsx';

const COLORS = { off: 'gray', starting: 'blue', ready: 'kvasir', failed: 'red' };

/** An MCP server: its state, where it is, and its tools. */
export function ToolServerCard({ server }: { server: ToolServer }) {
  const { t } = useTranslation(['mcp', 'common']);
  const { name, enabled, state, failure } = server;
  const start = useAction('tools.startServer');
  const enable = useAction('tools.enableServer');
  const remove = useRemove(name);
  return (
    <Paper withBorder p="md" component="article" aria-label={name}>
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap">
          <Group gap="xs" miw={0}>
            <Text size="md" fw={600} style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Text>
            <Badge color={enabled ? COLORS[state] : 'gray'} role="status">
              {t(enabled ? `state.${state}` : 'state.disabled')}
            </Badge>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <Switch
              aria-label={t('common:action.useOf', { name })}
              checked={enabled}
              onChange={(event) =>
                enable.mutate({ name, enabled: event.currentTarget.checked }, { onError: notifyFailure })
              }
            />
            <ActionIcon aria-label={t('remove.open', { name })} onClick={remove}>
              <IconTrash size={16} aria-hidden />
            </ActionIcon>
          </Group>
        </Group>
        <Place server={server} />
        {enabled && failure && (
          <FailureAlert
            failure={failure}
            onRetry={() => start.mutate({ name }, { onError: notifyFailure })}
          />
        )}
        {enabled && <SignIn server={server} />}
        {enabled && <ServerTools server={server} />}
      </Stack>
    </Paper>
  );
}

/** Where it runs, and what is sent there. */
function Place({ server: { command, url, secrets } }: { server: ToolServer }) {
  const { t } = useTranslation(['mcp', 'servers']);
  const address = url === null ? null : URL.parse(url);
  const reach = address && reachOf(address.hostname);
  return (
    <>
      {command !== null && (
        <Text c="dimmed">
          {t('runs')} <Code style={{ overflowWrap: 'anywhere' }}>{command}</Code>
        </Text>
      )}
      {address && reach && (
        <Text {...(reach === 'here' && { c: 'dimmed' })} style={{ overflowWrap: 'anywhere' }}>
          {t(`reach.${reach}`, { host: address.host })}
          {reach !== 'here' && address.protocol === 'http:' && ` ${t('servers:readable')}`}
        </Text>
      )}
      {secrets.length > 0 && (
        <Subtext style={{ overflowWrap: 'anywhere' }}>{t('secrets', { names: secrets.join(', ') })}</Subtext>
      )}
    </>
  );
}

/** For servers at an address without a key. */
function SignIn({ server: { name, url, secrets, failure, signInPage } }: { server: ToolServer }) {
  const { t } = useTranslation(['mcp', 'common']);
  const { mutate } = useAction('tools.signIn');
  if (signInPage !== null)
    return (
      <Text role="alert">
        {t('signIn.waits')}{' '}
        <Anchor size="md" href={signInPage} target="_blank" rel="noopener noreferrer">
          {t('signIn.page', { host: URL.parse(signInPage)?.host ?? '' })}
        </Anchor>
      </Text>
    );
  if (failure?.code !== 'MCP_SIGN_IN' || url === null || secrets.length > 0) return null;
  return (
    <Button size="xs" w="fit-content" onClick={() => mutate({ name }, { onError: notifyFailure })}>
      {t('signIn.open')}
    </Button>
  );
}

function useRemove(name: string): () => void {
  const { t } = useTranslation(['mcp', 'common']);
  const { mutate } = useAction('tools.removeServer');
  return () => {
    askToConfirm({
      title: t('common:removeTitle', { name }),
      text: [t('remove.text')],
      confirm: t('common:action.remove'),
      danger: true,
      onConfirm: () => mutate({ name }, { onError: notifyFailure }),
    });
  };
}
