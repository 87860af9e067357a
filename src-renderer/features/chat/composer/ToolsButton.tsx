import { Anchor, Button, Popover } from '@mantine/core';
import { IconAlertTriangle, IconTools } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import { useCall } from '../../../client/context.tsx';
import type { OptionsProps } from './OptionsForm.tsx';
import { toolChoices } from './tool-choice.ts';
import { ToolsForm } from './ToolsForm.tsx';
import classes from './Composer.module.css';

/** Says whose tools the conversation uses, and that a server of them failed; a click changes them. */
export function ToolsButton({ options, onChange }: OptionsProps) {
  const { t } = useTranslation('chat');
  const { data } = useCall('tools.list');
  const count = options.tools?.length ?? 0;
  const failed = toolChoices(options, data?.servers ?? []).find(
    ({ chosen, server }) => chosen && server?.state === 'failed',
  );
  const label = t(count > 0 ? 'tools.chosen' : 'tools.title', { count });
  return (
    <Popover position="top-start" width={360} shadow="lg" trapFocus returnFocus withinPortal>
      <Popover.Target>
        <Button
          className={classes.tools ?? ''}
          size="compact-sm"
          variant={count > 0 ? 'light' : 'subtle'}
          {...(count === 0 && { color: 'gray' })}
          {...(failed && { color: 'red' })}
          fw={400}
          leftSection={
            failed ? <IconAlertTriangle size={16} aria-hidden /> : <IconTools size={16} aria-hidden />
          }
          aria-label={failed ? `${label}. ${t('tools.failed', { name: failed.name })}` : label}
        >
          {t('tools.short')}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={t('tools.title')} mah="min(72vh, 640px)" style={{ overflowY: 'auto' }}>
        <ToolsForm title={t('tools.title')} options={options} onChange={onChange} />
        <Anchor component={Link} href="/settings?section=tools" display="inline-block" mt="sm">
          {t('tools.manage')}
        </Anchor>
      </Popover.Dropdown>
    </Popover>
  );
}
