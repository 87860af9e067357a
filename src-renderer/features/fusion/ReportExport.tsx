import { ActionIcon, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Exports } from './useExports.ts';

export function ReportExport({ exports }: { exports: Exports }) {
  const { t } = useTranslation(['fusion', 'common']);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={t('common:action.export')}>
          <IconDownload size={18} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={exports.wholePng}>{t('export.whole')}</Menu.Item>
        <Menu.Item onClick={exports.json}>{t('export.json')}</Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => exports.csv('tokens')}>{t('export.tokens')}</Menu.Item>
        <Menu.Item onClick={() => exports.csv('layers')}>{t('export.layers')}</Menu.Item>
        <Menu.Item onClick={() => exports.csv('stages')}>{t('export.stages')}</Menu.Item>
        <Menu.Item onClick={() => exports.csv('chunks')}>{t('export.chunks')}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
