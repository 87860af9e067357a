import { Button, Loader, Menu } from '@mantine/core';
import {
  IconAlertTriangle,
  IconCheck,
  IconChevronDown,
  IconCpu,
  IconServer,
  IconSettings,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ModelEntry } from '../../../src-shared/contract/models.ts';
import { useCall } from '../../client/context.tsx';
import { useActivate } from '../../ui/useActivate.ts';
import { useFormat } from '../../ui/useFormat.ts';
import classes from './ChatScreen.module.css';

/** The model that answers and its state; a click changes it. */
export function ModelSwitch() {
  const { t } = useTranslation('chat');
  const { data: models = [] } = useCall('models.list');
  const usable = models.filter(
    ({ role, unsupportedReason, state }) =>
      role === 'chat' && unsupportedReason === '' && state !== 'missing',
  );
  const active = models.find(({ role, active: inUse }) => role === 'chat' && inUse);
  const loading = usable.find(({ state }) => state === 'loading');
  const shown = loading ?? active;
  const name = shown?.name ?? t('model.none');
  const says = loading ? t('model.loading', { name }) : name;
  return (
    <Menu position="bottom-end" width={320} withinPortal>
      <Menu.Target>
        <Button
          size="compact-sm"
          variant="subtle"
          color="gray"
          fw={400}
          className={classes.model ?? ''}
          aria-label={`${t('model.label')}: ${says}`}
          leftSection={<StateIcon model={shown} />}
          rightSection={<IconChevronDown size={14} aria-hidden />}
        >
          {says}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
        <Menu.Label>{t('model.choose')}</Menu.Label>
        {usable.map((model) => (
          <Choice key={model.id} model={model} />
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} href="/models" leftSection={<IconSettings size={16} aria-hidden />}>
          {t('model.manage')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function StateIcon({ model }: { model: ModelEntry | undefined }) {
  if (model?.state === 'loading') return <Loader size={14} aria-hidden />;
  if (model?.state === 'failed') return <IconAlertTriangle size={16} aria-hidden />;
  return model?.server ? <IconServer size={16} aria-hidden /> : <IconCpu size={16} aria-hidden />;
}

function Choice({ model }: { model: ModelEntry }) {
  const { t } = useTranslation(['chat', 'models']);
  const format = useFormat();
  const { activate, busy } = useActivate(model);
  const { name, active, server, fileBytes, state, baseModel } = model;
  const about = [
    server ? t('model.server', { host: server.host }) : format.bytes(fileBytes),
    baseModel && t('models:notForChat'),
    state === 'loading' && t('model.isLoading'),
    state === 'failed' && t('model.failed'),
  ].filter((part) => part !== false);
  return (
    <Menu.Item
      leftSection={<StateIcon model={model} />}
      rightSection={active && <IconCheck size={16} aria-label={t('model.inUse')} />}
      disabled={busy}
      onClick={() => !active && void activate()}
    >
      <span className={classes.modelName}>{name}</span>
      <span className={classes.modelAbout}>{about.join(' · ')}</span>
    </Menu.Item>
  );
}
