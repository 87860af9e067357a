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
        max={1024}
        onChange={(threads) => change({ threads })}
      />
      <Input.Wrapper label={t('engine.dtype')} description={t('engine.dtypeHelp')} labelElement="div">
        <SegmentedControl
          mt={6}
          display="flex"
          w="fit-content"
          aria-label={t('engine.dtype')}
          value={settings.dtype}
          data={['f16', 'q8_0']}
          onChange={(dtype) => change({ dtype })}
        />
      </Input.Wrapper>
      <TextSetting
        label={t('engine.catalogue')}
        description={t('engine.catalogueHelp')}
        maxLength={2000}
        text={settings.modelCatalogue}
        onChange={(modelCatalogue) => change({ modelCatalogue: modelCatalogue.trim() })}
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
