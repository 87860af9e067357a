import { Alert, SegmentedControl, Switch, Text } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Settings } from '../../../../src-shared/settings.ts';
import type { Sharing } from '../../../../src-shared/sharing.ts';
import { useCall } from '../../../client/context.tsx';
import { LineSetting } from '../LineSetting.tsx';
import { useChange } from '../useChange.ts';
import { FolderFields, RedisFields, S3Fields } from './PlaceFields.tsx';
import { Secret } from './Secret.tsx';
import { TestConnection } from './TestConnection.tsx';

const KINDS = ['off', 'folder', 'redis', 's3'] as const;
const FIELDS = { folder: FolderFields, redis: RedisFields, s3: S3Fields };

/** Settings for sharing the cache with other machines. */
export function SharingSection({ settings: { sharing } }: { settings: Settings }) {
  const { t } = useTranslation('sharing');
  const { data: info } = useCall('sharing.info');
  const update = useChange();
  const change = (changes: Partial<Sharing>): void => update({ sharing: { ...sharing, ...changes } });
  const { kind } = sharing;
  const Fields = kind === 'off' ? undefined : FIELDS[kind];
  return (
    <>
      <Text c="dimmed">{t('intro')}</Text>
      <SegmentedControl
        w="fit-content"
        aria-label={t('kind')}
        value={kind}
        data={KINDS.map((value) => ({ value, label: t(`kinds.${value}`) }))}
        onChange={(value) => change({ kind: value })}
      />
      {Fields && (
        <>
          <Alert color="gray" icon={<IconLock size={18} aria-hidden />}>
            {t('privacy')}
          </Alert>
          {/* Above the storage: sharing starts as soon as that is complete. */}
          <Secret
            name="encryptionKey"
            info={info}
            help={t('secrets.encryptionKeyHelp')}
            needed={sharing.encrypted}
          />
          <Secret name="salt" info={info} help={t('secrets.saltHelp')} />
          <Fields sharing={sharing} change={change} />
          {kind === 'redis' && <Secret name="password" info={info} />}
          {kind === 's3' && <Secret name="secretAccessKey" info={info} />}
          {kind !== 'folder' && (
            <LineSetting
              label={t('authorities')}
              description={t('authoritiesHelp')}
              text={sharing.authorities}
              maxLength={4096}
              onChange={(authorities) => change({ authorities })}
            />
          )}
          <Switch
            label={t('readOnly')}
            description={t('readOnlyHelp')}
            checked={sharing.readOnly}
            onChange={({ currentTarget }) => change({ readOnly: currentTarget.checked })}
          />
          <TestConnection sharing={sharing} />
        </>
      )}
    </>
  );
}
