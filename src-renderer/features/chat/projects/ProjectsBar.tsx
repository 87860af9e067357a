import { ActionIcon, Menu } from '@mantine/core';
import { IconFolderPlus, IconFolderSymlink, IconPlus } from '@tabler/icons-react';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../../client/context.tsx';
import classes from '../sidebar/Sidebar.module.css';
import type { ProjectActions } from './useProjectActions.tsx';

/** Creates projects: empty ones, or of a folder, chosen with the host's dialog if it has one. */
export function ProjectsBar({ actions }: { actions: ProjectActions }) {
  const { t } = useTranslation('chat');
  const { data: info } = useCall('app.info');
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className={classes.projects}>
      {t('projects.title')}
      <input
        ref={(element) => {
          input.current = element;
          element?.setAttribute('webkitdirectory', '');
        }}
        type="file"
        hidden
        onChange={({ currentTarget }) => {
          actions.take([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <ActionIcon size="sm" aria-label={t('projects.create')}>
            <IconPlus size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconFolderPlus size={15} />} onClick={() => actions.create()}>
            {t('projects.create')}
          </Menu.Item>
          <Menu.Item
            leftSection={<IconFolderSymlink size={15} />}
            onClick={() => (info?.nativeDialogs ? actions.choose() : input.current?.click())}
          >
            {t('projects.fromFolder')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
