import { Input, SegmentedControl, Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { isPacked, type KvDtype, type SessionDtype } from '../../../src-shared/kv-dtype.ts';
import type { Settings } from '../../../src-shared/settings.ts';
import { useCall } from '../../client/context.tsx';
import { Devices } from './Devices.tsx';
import { NumberSetting } from './NumberSetting.tsx';
import { TextSetting } from './TextSetting.tsx';
import { useChange } from './useChange.ts';

export function EngineSection({ settings }: { settings: Settings }) {
  const { t } = useTranslation('settings');
  const change = useChange();
  const { data: devices } = useCall('devices.get');
  const gpus = (devices?.devices ?? []).filter(({ kind }) => kind !== 'cpu').map(({ name }) => name);
  const names = new Set(['auto', 'cpu', settings.device, ...gpus]);
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
      <PrecisionSetting<KvDtype>
        label={t('engine.dtype')}
        description={t('engine.dtypeHelp')}
        value={settings.dtype}
        more={isPacked(settings.dtype) ? settings.dtype : undefined}
        onChange={(dtype) => change({ dtype })}
      />
      <PrecisionSetting<SessionDtype>
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
      {devices && <Devices {...devices} />}
    </>
  );
}

interface PrecisionSettingProps<Dtype extends KvDtype> {
  label: string;
  description: string;
  value: Dtype;
  /** A format that is in use but chosen elsewhere. */
  more?: KvDtype | undefined;
  onChange: (value: Dtype | SessionDtype) => void;
}

function PrecisionSetting<Dtype extends KvDtype>({
  label,
  description,
  value,
  more,
  onChange,
}: PrecisionSettingProps<Dtype>) {
  const { t } = useTranslation('settings');
  return (
    <Input.Wrapper label={label} description={description} labelElement="div">
      <SegmentedControl<KvDtype>
        mt={6}
        display="flex"
        w="fit-content"
        aria-label={label}
        value={value}
        data={[
          { value: 'f16', label: t('engine.exact') },
          { value: 'q8_0', label: t('engine.compact') },
          ...(more ? [{ value: more, label: more }] : []),
        ]}
        onChange={(chosen) => (chosen === 'f16' || chosen === 'q8_0') && onChange(chosen)}
      />
    </Input.Wrapper>
  );
}
