import { Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Settings } from '../../../src-shared/settings.ts';
import { useChunkSize } from '../../ui/useChunkSize.ts';
import { NumberSetting } from './NumberSetting.tsx';
import { useChange } from './useChange.ts';

const MB = 1_000_000; // decimal, like all sizes in the UI
/** Initial value when the automatic choice is turned off; the most common chunk size. */
const FIRST_OWN_CHUNK_SIZE = 512;

export function DocumentsSection({ settings }: { settings: Settings }) {
  const { t } = useTranslation('settings');
  const change = useChange();
  const changeSize = useChunkSize();
  const { chunkTokens } = settings;
  return (
    <>
      <Switch
        label={t('documents.automaticPlain')}
        description={t('documents.chunkTokensHelp')}
        checked={chunkTokens === undefined}
        onChange={(event) => changeSize(event.currentTarget.checked ? null : FIRST_OWN_CHUNK_SIZE)}
      />
      {chunkTokens !== undefined && (
        <NumberSetting
          label={t('documents.chunkTokens')}
          value={chunkTokens}
          min={16}
          max={8192}
          step={64}
          onChange={changeSize}
        />
      )}
      <NumberSetting
        label={t('documents.maxFile')}
        description={t('documents.maxFileHelp')}
        value={Math.round(settings.maxFileBytes / MB)}
        min={1}
        max={4096}
        onChange={(size) => change({ maxFileBytes: size * MB })}
      />
      <Switch
        label={t('documents.recognise')}
        description={t('documents.recogniseHelp')}
        checked={settings.recognise}
        onChange={(event) => change({ recognise: event.currentTarget.checked })}
      />
      <Switch
        label={t('documents.storeMisses')}
        description={t('documents.storeMissesHelp')}
        checked={settings.storeMisses}
        onChange={(event) => change({ storeMisses: event.currentTarget.checked })}
      />
    </>
  );
}
