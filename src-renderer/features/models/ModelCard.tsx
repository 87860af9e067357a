import {
  Badge,
  Button,
  Group,
  Menu,
  Paper,
  Progress,
  Stack,
  Text,
  Tooltip,
  UnstyledButton,
} from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useState } from 'react';
import { FailureText } from '../../ui/FailureText.tsx';
import { useTranslation } from 'react-i18next';
import type { MemoryFit, ModelEntry } from '../../../src-shared/contract/models.ts';
import { useAction, useEvent } from '../../client/context.tsx';
import { askToConfirm } from '../../ui/confirm.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { FitBadge } from '../../ui/FitBadge.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { useActivate } from '../../ui/useActivate.ts';
import { EmbeddingLines } from './EmbeddingLines.tsx';
import { useAdapter } from './useAdapter.tsx';
import { usePrefixes } from './usePrefixes.tsx';
import { ServerLines } from './servers/ServerLines.tsx';
import { useServerKey } from './servers/useServerKey.tsx';
import { useServerSettings } from './servers/useServerSettings.tsx';
import { useRenameModel } from './useRenameModel.tsx';
import { useSampling } from './useSampling.tsx';
import classes from './ModelCard.module.css';

export function ModelCard({ model, onDetails }: { model: ModelEntry; onDetails: () => void }) {
  const { t } = useTranslation(['models', 'common']);
  const { failure } = model;
  return (
    <Paper withBorder p="md" className={classes.card} data-active={model.active || undefined}>
      <Stack gap="xs">
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Stack gap={2} miw={0}>
            <Group gap="xs">
              <Text size="md" fw={600}>
                {model.name}
              </Text>
              {model.active && <Badge>{t('common:inUse')}</Badge>}
              {model.state !== 'ready' && model.state !== 'idle' && (
                <Badge color={model.state === 'loading' ? 'blue' : 'red'}>{t(`state.${model.state}`)}</Badge>
              )}
              {!model.server && <FitInNumbers fit={model.fit} />}
            </Group>
            {model.server ? <ServerLines server={model.server} /> : <Facts model={model} />}
          </Stack>
          <Actions model={model} onDetails={onDetails} />
        </Group>
        <AdapterLine model={model} />
        <EmbeddingLines model={model} />
        <Loading model={model} />
        {model.origin === 'demo' && <Text>{t('demoNote')}</Text>}
        {model.obstacle && <Text>{t(`common:notBlended.${model.obstacle}`, { name: model.name })}</Text>}
        {model.baseModel && <Text>{t('baseModel')}</Text>}
        {model.textMarks && <Text>{t('textMarks', { marks: model.textMarks.join(', ') })}</Text>}
        {model.unsupportedReason !== '' && (
          <Text c="var(--kv-danger)">{t('unsupported', { reason: model.unsupportedReason })}</Text>
        )}
        {failure && (
          <Text c="var(--kv-danger)">
            <FailureText failure={failure} />
          </Text>
        )}
      </Stack>
    </Paper>
  );
}

function Facts({ model }: { model: ModelEntry }) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const { parameterCount } = model;
  const count =
    parameterCount >= 1e9
      ? t('billion', { value: format.number(parameterCount / 1e9, 1) })
      : t('million', { value: format.number(parameterCount / 1e6, 1) });
  const facts = [
    t(`origin.${model.origin}`),
    model.architecture,
    t('facts.parameters', { amount: count }),
    `${t('facts.quantization')} ${model.quantization}`,
    `${t('facts.context')} ${format.number(model.contextTrain)}`,
    format.bytes(model.fileBytes),
    ...(model.role === 'chat' && !model.obstacle
      ? [`${t('facts.kv')} ${format.bytes(model.kvBytesPerToken.f16 * 1000)}`]
      : []),
  ];
  return <Text c="dimmed">{facts.join(' · ')}</Text>;
}

/** The model's adapter, and on request the file's path. */
function AdapterLine({ model: { adapter } }: { model: ModelEntry }) {
  const { t } = useTranslation('models');
  if (adapter === null) return null;
  return (
    <Tooltip label={adapter} multiline maw={480} style={{ overflowWrap: 'anywhere' }}>
      <Text w="fit-content" maw="100%" tabIndex={0} style={{ overflowWrap: 'anywhere' }}>
        {t('adapter.on', { name: fileName(adapter) })}
      </Text>
    </Tooltip>
  );
}

function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}

function FitInNumbers({ fit }: { fit: MemoryFit }) {
  const { t } = useTranslation('models');
  const format = useFormat();
  const text = t('fit.text', {
    weights: format.bytes(fit.weightsBytes),
    kv: format.bytes(fit.kvBytes),
    compute: format.bytes(fit.computeBytes),
    window: format.number(fit.contextTokens),
    free: format.bytes(fit.freeBytes),
    device: fit.device,
  });
  return (
    <Tooltip label={text} multiline maw={360}>
      <FitBadge verdict={fit.verdict} tabIndex={0} aria-label={`${t(`fit.${fit.verdict}`)}. ${text}`} />
    </Tooltip>
  );
}

function Loading({ model: { id, state } }: { model: ModelEntry }) {
  const { t } = useTranslation('models');
  const [fraction, setFraction] = useState(0);
  useEvent('models.progress', (progress) => {
    if (progress.id === id) setFraction(progress.fraction);
  });
  if (state !== 'loading') return null;
  return <Progress value={fraction * 100} animated aria-label={t('state.loading')} />;
}

function Actions({ model, onDetails }: { model: ModelEntry; onDetails: () => void }) {
  const { t } = useTranslation(['models', 'common', 'servers']);
  const { activate, loadAgain, busy } = useActivate(model);
  const deactivate = useAction('models.deactivate');
  const rename = useRenameModel(model);
  const sampling = useSampling(model);
  const remove = useRemove(model);
  const adapter = useAdapter(model);
  const prefixes = usePrefixes(model);
  const changeKey = useServerKey(model);
  const changeSettings = useServerSettings(model);
  const usable = model.unsupportedReason === '' && model.state !== 'missing';
  const takesAdapters = usable && model.role === 'chat' && !model.obstacle && model.origin !== 'demo';
  return (
    <Group gap="xs" wrap="nowrap">
      {!model.active && usable && (
        <Button size="xs" variant="light" loading={busy} onClick={() => void activate()}>
          {t('common:action.use')}
        </Button>
      )}
      {model.active && model.role !== 'chat' && (
        <Button
          size="xs"
          variant="default"
          onClick={() => deactivate.mutate({ id: model.id }, { onError: notifyFailure })}
        >
          {t('stopUsing')}
        </Button>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <UnstyledButton className={classes.more} aria-label={`${t('common:action.more')}: ${model.name}`}>
            <IconDots size={18} />
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          {model.active && !model.server && (
            <Menu.Item disabled={busy} onClick={loadAgain}>
              {t('loadAgain')}
            </Menu.Item>
          )}
          <Menu.Item onClick={onDetails}>{t('common:action.details')}</Menu.Item>
          {model.role === 'chat' && <Menu.Item onClick={sampling}>{t('sampling.open')}</Menu.Item>}
          {model.embedding && <Menu.Item onClick={prefixes}>{t('prefixes.open')}</Menu.Item>}
          <Menu.Item onClick={rename}>{t('rename.open')}</Menu.Item>
          {model.server && <Menu.Item onClick={changeSettings}>{t('servers:settings.open')}</Menu.Item>}
          {model.server && <Menu.Item onClick={changeKey}>{t('servers:key.open')}</Menu.Item>}
          {takesAdapters && (
            <Menu.Item onClick={adapter.choose}>
              {t(model.adapter === null ? 'adapter.add' : 'adapter.other')}
            </Menu.Item>
          )}
          {model.adapter !== null && <Menu.Item onClick={adapter.takeOff}>{t('adapter.takeOff')}</Menu.Item>}
          {model.origin !== 'demo' && (
            <Menu.Item color="red" onClick={remove}>
              {t('common:action.remove')}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

function useRemove({ id, name, origin, path }: ModelEntry): () => void {
  const { t } = useTranslation(['models', 'common']);
  const remove = useAction('models.remove');
  return () => {
    askToConfirm({
      title: t('common:removeTitle', { name }),
      text: [t(`removeText.${origin}`, { path })],
      confirm: t('common:action.remove'),
      danger: true,
      onConfirm: () => remove.mutate({ id }, { onError: notifyFailure }),
    });
  };
}
