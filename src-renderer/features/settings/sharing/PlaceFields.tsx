import { Group, Switch } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Sharing } from '../../../../src-shared/sharing.ts';
import { LineSetting } from '../LineSetting.tsx';
import { NumberSetting } from '../NumberSetting.tsx';

interface Fields {
  sharing: Sharing;
  change: (changes: Partial<Sharing>) => void;
}

const DAY = 86_400;
const [MB, GB] = [1e6, 1e9];

export function FolderFields({ sharing: { folder }, change }: Fields) {
  const { t } = useTranslation('sharing');
  const set = (changes: Partial<Sharing['folder']>): void => change({ folder: { ...folder, ...changes } });
  return (
    <>
      <LineSetting
        label={t('folder.path')}
        description={t('folder.pathHelp')}
        text={folder.path}
        maxLength={4096}
        onChange={(path) => set({ path })}
      />
      <NumberSetting
        label={t('folder.limit')}
        description={t('folder.limitHelp')}
        value={folder.limitBytes / GB}
        min={0}
        max={1_000_000}
        decimals={1}
        onChange={(limit) => set({ limitBytes: limit * GB })}
      />
    </>
  );
}

export function RedisFields({ sharing: { redis }, change }: Fields) {
  const { t } = useTranslation('sharing');
  const set = (changes: Partial<Sharing['redis']>): void => change({ redis: { ...redis, ...changes } });
  return (
    <>
      <Group align="flex-start" wrap="nowrap">
        <div style={{ flexGrow: 1 }}>
          <LineSetting
            label={t('redis.host')}
            text={redis.host}
            maxLength={255}
            onChange={(host) => set({ host })}
          />
        </div>
        <NumberSetting
          label={t('redis.port')}
          value={redis.port}
          min={1}
          max={65_535}
          grouped={false}
          onChange={(port) => set({ port })}
        />
      </Group>
      <Switch
        label={t('redis.tls')}
        description={t('redis.tlsHelp')}
        checked={redis.tls}
        onChange={({ currentTarget }) => set({ tls: currentTarget.checked })}
      />
      <LineSetting
        label={t('redis.user')}
        description={t('redis.userHelp')}
        text={redis.user}
        maxLength={255}
        onChange={(user) => set({ user })}
      />
      <NumberSetting
        label={t('redis.database')}
        value={redis.database}
        min={0}
        max={10_000}
        onChange={(database) => set({ database })}
      />
      <LineSetting
        label={t('redis.prefix')}
        text={redis.prefix}
        maxLength={200}
        onChange={(prefix) => set({ prefix })}
      />
      <NumberSetting
        label={t('redis.expire')}
        description={t('redis.expireHelp')}
        value={redis.expireSeconds / DAY}
        min={0}
        max={36_500}
        onChange={(days) => set({ expireSeconds: Math.round(days * DAY) })}
      />
      <NumberSetting
        label={t('redis.largest')}
        description={t('redis.largestHelp')}
        value={redis.largestBytes / MB}
        min={1}
        max={512}
        onChange={(largest) => set({ largestBytes: largest * MB })}
      />
    </>
  );
}

export function S3Fields({ sharing: { s3 }, change }: Fields) {
  const { t } = useTranslation('sharing');
  const set = (changes: Partial<Sharing['s3']>): void => change({ s3: { ...s3, ...changes } });
  const line = (name: 'region' | 'bucket' | 'prefix' | 'accessKeyId') => (
    <LineSetting
      label={t(`s3.${name}`)}
      text={s3[name]}
      maxLength={255}
      onChange={(text) => set({ [name]: text })}
    />
  );
  return (
    <>
      <LineSetting
        label={t('s3.endpoint')}
        description={t('s3.endpointHelp')}
        text={s3.endpoint}
        maxLength={2000}
        onChange={(endpoint) => set({ endpoint })}
      />
      {line('region')}
      {line('bucket')}
      <Switch
        label={t('s3.pathStyle')}
        description={t('s3.pathStyleHelp')}
        checked={s3.pathStyle}
        onChange={({ currentTarget }) => set({ pathStyle: currentTarget.checked })}
      />
      {line('prefix')}
      {line('accessKeyId')}
    </>
  );
}
