import { Input, Paper, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Settings } from '../../../src-shared/settings.ts';
import { useCall } from '../../client/context.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { NumberSetting } from './NumberSetting.tsx';
import { TextSetting } from './TextSetting.tsx';
import { useChange } from './useChange.ts';

export function EngineSection({ settings }: { settings: Settings }) {
  const { t } = useTranslation('settings');
  const change = useChange();
  const { data: info } = useCall('app.info');
  const devices = info?.devices ?? [];
  const names = new Set(['auto', 'cpu', settings.device, ...devices.map(({ name }) => name)]);
  return (
    <>
      <Select
        label={t('engine.device')}
        description={t('engine.deviceHelp')}
        value={settings.device}
        allowDeselect={false}
        data={[...names].map((value) => ({
          value,
          label: value === 'auto' ? t('engine.deviceAuto') : value,
        }))}
        onChange={(device) => device !== null && change({ device })}
      />
      <NumberSetting
        label={t('engine.threads')}
        description={t('engine.threadsHelp')}
        value={settings.threads}
        min={0}
        max={Math.max(1, navigator.hardwareConcurrency)}
        onChange={(threads) => change({ threads })}
      />
      <PrecisionSetting
        label={t('engine.dtype')}
        description={t('engine.dtypeHelp')}
        value={settings.dtype}
        onChange={(dtype) => change({ dtype })}
      />
      <PrecisionSetting
        label={t('engine.conversationDtype')}
        description={t('engine.conversationDtypeHelp')}
        value={settings.conversationDtype}
        onChange={(conversationDtype) => change({ conversationDtype })}
      />
      <TextSetting
        label={t('engine.catalogue')}
        description={t('engine.catalogueHelp')}
        maxLength={2000}
        text={settings.modelCatalogue}
        onChange={(modelCatalogue) => change({ modelCatalogue: modelCatalogue.trim() })}
      />
      <TextSetting
        label={t('engine.hub')}
        description={t('engine.hubHelp')}
        maxLength={2000}
        text={settings.hubAddress}
        onChange={(address) => change({ hubAddress: address.trim() === '' ? null : address.trim() })}
      />
      <Stack gap="xs">
        <Text size="sm" fw={500}>
          {t('engine.devices')}
        </Text>
        {devices.map((device) => (
          <DeviceLine key={device.name} {...device} />
        ))}
      </Stack>
    </>
  );
}

interface PrecisionSettingProps {
  label: string;
  description: string;
  value: Settings['dtype'];
  onChange: (value: Settings['dtype']) => void;
}

function PrecisionSetting({ label, description, value, onChange }: PrecisionSettingProps) {
  const { t } = useTranslation('settings');
  return (
    <Input.Wrapper label={label} description={description} labelElement="div">
      <SegmentedControl
        mt={6}
        display="flex"
        w="fit-content"
        aria-label={label}
        value={value}
        data={[
          { value: 'f16', label: t('engine.exact') },
          { value: 'q8_0', label: t('engine.compact') },
        ]}
        onChange={onChange}
      />
    </Input.Wrapper>
  );
}

interface Device {
  name: string;
  description: string;
  memoryFree: number;
  memoryTotal: number;
}

function DeviceLine({ name, description, memoryFree, memoryTotal }: Device) {
  const { t } = useTranslation('settings');
  const format = useFormat();
  return (
    <Paper withBorder p="sm">
      <Text size="sm" fw={600}>
        {name}
      </Text>
      <Text size="sm" c="dimmed">
        {description}
      </Text>
      {memoryTotal > 0 && (
        <Text size="sm" c="dimmed">
          {t('engine.memory', { free: format.bytes(memoryFree), total: format.bytes(memoryTotal) })}
        </Text>
      )}
    </Paper>
  );
}
