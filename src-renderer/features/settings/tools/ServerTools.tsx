import { Group, Stack, Switch, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { ListedTool, ToolServer } from '../../../../src-shared/contract/tools.ts';
import { useAction } from '../../../client/context.tsx';
import { Subtext } from '../../../ui/Subtext.tsx';
import { notifyFailure } from '../../../ui/notify.tsx';

/** Lines of a description that are shown; the rest is its title. */
const SHOWN_LINES = 2;

/** A server's tools, and whether each asks. */
export function ServerTools({ server: { name, state, tools } }: { server: ToolServer }) {
  const { t } = useTranslation('mcp');
  if (tools.length === 0) return state === 'ready' && <Text>{t('noTools')}</Text>;
  return (
    <Stack gap="xs">
      <Text fw={500}>{t('tools', { count: tools.length })}</Text>
      {tools.map((tool) => (
        <ToolLine key={tool.name} server={name} tool={tool} />
      ))}
    </Stack>
  );
}

/** What a tool says about itself. */
export function ToolWords({ title, description }: Pick<ListedTool, 'title' | 'description'>) {
  return (
    <div>
      <Text style={{ overflowWrap: 'anywhere' }}>{title}</Text>
      <Subtext lineClamp={SHOWN_LINES} title={description}>
        {description}
      </Subtext>
    </div>
  );
}

function ToolLine({ server, tool }: { server: string; tool: ListedTool }) {
  const { t } = useTranslation('mcp');
  const { name, title, description, allowed, changed } = tool;
  const allow = useAction('tools.allow');
  return (
    <Group justify="space-between" wrap="nowrap" align="flex-start">
      <div style={{ minWidth: 0 }}>
        <ToolWords title={title} description={description} />
        {changed && (
          <Text size="xs" fw={500}>
            {t('changed')}
          </Text>
        )}
      </div>
      <Switch
        size="xs"
        labelPosition="left"
        style={{ flexShrink: 0 }}
        label={t(allowed ? 'allowed' : 'asks')}
        aria-label={t('allow', { tool: title })}
        checked={allowed}
        onChange={(event) =>
          allow.mutate(
            { server, tool: name, allowed: event.currentTarget.checked },
            { onError: notifyFailure },
          )
        }
      />
    </Group>
  );
}
