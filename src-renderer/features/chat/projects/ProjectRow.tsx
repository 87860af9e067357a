import { ActionIcon, Menu, UnstyledButton } from '@mantine/core';
import { IconDots, IconFolder, IconFolderOpen, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { Project } from '../../../../src-shared/contract/projects.ts';
import { IconButton } from '../../../ui/IconButton.tsx';
import { setProjectOpen } from '../chat-state.ts';
import classes from '../sidebar/Sidebar.module.css';
import type { ProjectActions } from './useProjectActions.tsx';

/** A project above its conversations: opens and closes the group, starts a conversation, edits or deletes the project. */
export function ProjectRow({
  project,
  open,
  count,
  tabStop,
  onFocus,
  actions,
}: {
  project: Project;
  open: boolean;
  /** Its conversations in the group. */
  count: number;
  tabStop: boolean;
  onFocus: () => void;
  actions: ProjectActions;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const { id, name } = project;
  const button = { variant: 'subtle', color: 'gray', size: 'sm', tabIndex: tabStop ? 0 : -1 } as const;
  const Folder = open ? IconFolderOpen : IconFolder;
  return (
    <div className={classes.row} onFocus={onFocus}>
      <UnstyledButton
        className={classes.toggle}
        aria-expanded={open}
        tabIndex={tabStop ? 0 : -1}
        onClick={() => setProjectOpen(id, !open)}
      >
        <Folder size={16} aria-hidden style={{ flex: 'none' }} />
        <span>{name}</span>
        <span className={classes.count}>{count}</span>
      </UnstyledButton>
      <span className={classes.projectButtons}>
        <IconButton label={t('projects.ask', { name })} {...button} onClick={() => actions.start(project)}>
          <IconPlus size={16} />
        </IconButton>
        <Menu position="bottom-end" withinPortal returnFocus={false}>
          <Menu.Target>
            <ActionIcon {...button} aria-label={t('projects.menu', { name })}>
              <IconDots size={16} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              leftSection={<IconPencil size={15} />}
              rightSection="F2"
              onClick={() => actions.edit(project)}
            >
              {t('projects.edit')}
            </Menu.Item>
            <Menu.Item
              color="red"
              leftSection={<IconTrash size={15} />}
              rightSection="Del"
              onClick={() => actions.remove(project)}
            >
              {t('common:action.delete')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </span>
    </div>
  );
}
