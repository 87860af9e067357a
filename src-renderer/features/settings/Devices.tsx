import { Badge, Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Failure } from '../../../src-shared/contract/common.ts';
import type { DeviceInfo, Devices as AllDevices } from '../../../src-shared/contract/devices.ts';
import { useAction } from '../../client/context.tsx';
import { notifyFailure } from '../../ui/notify.tsx';
import { useFormat } from '../../ui/useFormat.ts';
import { DeviceFailure } from './DeviceFailure.tsx';
import { PackOffers } from './PackOffers.tsx';

const COLOUR = { good: 'teal', off: 'red', untested: 'gray' } as const;

/** The machine's devices: state, speed, and which one "Automatic" uses. */
export function Devices({ devices, packs, automatic, testing }: AllDevices) {
  const { t } = useTranslation('settings');
  const { mutate: test } = useAction('devices.test');
  return (
    <Stack gap="xs" component="section" aria-label={t('engine.devices')}>
      <Group justify="space-between">
        <Text fw={500}>{t('engine.devices')}</Text>
        {automatic.why !== 'no-gpu' && (
          <Button
            size="xs"
            variant="default"
            loading={testing}
            onClick={() => test({}, { onError: notifyFailure })}
          >
            {t('engine.testAgain')}
          </Button>
        )}
      </Group>
      <Text c="dimmed">{t(`engine.automatic.${automatic.why}`, { device: automatic.device })}</Text>
      {devices.map((device) => (
        <DeviceLine key={device.name} {...device} />
      ))}
      {packs.map(({ name, failure }) => (
        <Line key={name} name={name} state={failure ? 'off' : 'untested'} failure={failure} />
      ))}
      <PackOffers />
    </Stack>
  );
}

function DeviceLine(device: DeviceInfo) {
  const { name, description, kind, memoryFree, memoryTotal, state, failure } = device;
  const { tokensPerSecond, cpuTokensPerSecond } = device;
  const { t } = useTranslation('settings');
  const format = useFormat();
  const details = [
    description,
    memoryTotal > 0 &&
      t('engine.memory', { free: format.bytes(memoryFree), total: format.bytes(memoryTotal) }),
    tokensPerSecond !== null &&
      cpuTokensPerSecond !== null &&
      t('engine.speed', { here: format.number(tokensPerSecond), cpu: format.number(cpuTokensPerSecond) }),
  ].filter((detail) => detail !== false);
  const isGpu = kind === 'gpu' || kind === 'igpu';
  return <Line name={name} state={isGpu ? state : null} failure={failure} details={details} />;
}

interface LineProps {
  name: string;
  /** null: needs no test. */
  state: DeviceInfo['state'] | null;
  failure: Failure | null;
  details?: string[];
}

function Line({ name, state, failure, details = [] }: LineProps) {
  const { t } = useTranslation('settings');
  return (
    <Paper withBorder p="sm">
      <Group gap="xs">
        <Text fw={600}>{name}</Text>
        {state && (
          <Badge
            variant="outline"
            color={COLOUR[state]}
            styles={{ label: { color: 'var(--mantine-color-text)' } }}
          >
            {t(`engine.state.${state}`)}
          </Badge>
        )}
      </Group>
      {details.map((detail) => (
        <Text key={detail} c="dimmed">
          {detail}
        </Text>
      ))}
      {failure && <DeviceFailure failure={failure} />}
    </Paper>
  );
}
