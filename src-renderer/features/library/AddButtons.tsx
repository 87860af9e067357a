import { ActionIcon, Button, FileButton, Menu } from '@mantine/core';
import { IconDots, IconFilePlus, IconFolderPlus, IconRoute, IconWorldDownload } from '@tabler/icons-react';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { AddDocuments } from './useAddDocuments.ts';

/** Buttons that add files and folders: with the host's dialogs if it has them, otherwise the browser's. */
export function AddButtons({ add }: { add: AddDocuments }) {
  const { t } = useTranslation(['library', 'common']);
  const files = { leftSection: <IconFilePlus size={17} aria-hidden />, children: t('add.files') };
  return (
    <>
      <FolderButton add={add} />
      {add.nativeDialogs ? (
        <Button size="sm" {...files} onClick={() => add.choose('documents')} />
      ) : (
        <FileButton multiple onChange={(chosen) => chosen.length > 0 && add.take(chosen)}>
          {(props) => <Button size="sm" {...files} {...props} />}
        </FileButton>
      )}
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t('common:action.more')}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconRoute size={16} />} onClick={add.askPath}>
            {t('add.path')}
          </Menu.Item>
          <Menu.Item leftSection={<IconWorldDownload size={16} />} onClick={add.askAddress}>
            {t('add.address')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  );
}

/** React and Mantine do not type `webkitdirectory`, which lets an <input> choose a folder. */
function FolderButton({ add }: { add: AddDocuments }) {
  const { t } = useTranslation(['library', 'common']);
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={(element) => {
          input.current = element;
          element?.setAttribute('webkitdirectory', '');
        }}
        type="file"
        hidden
        onChange={({ currentTarget }) => {
          if (currentTarget.files?.length) add.take([...currentTarget.files]);
          currentTarget.value = '';
        }}
      />
      <Button
        size="sm"
        variant="default"
        leftSection={<IconFolderPlus size={17} aria-hidden />}
        onClick={() => (add.nativeDialogs ? add.choose('folder') : input.current?.click())}
      >
        {t('add.folder')}
      </Button>
    </>
  );
}
