import { Menu } from '@mantine/core';
import { IconAdjustments, IconFolder, IconFolderOff, IconFolderPlus } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ConversationSummary } from '../../../../src-shared/contract/chat.ts';
import type { Project } from '../../../../src-shared/contract/projects.ts';
import type { ProjectActions } from './useProjectActions.tsx';

/** Menu items of a conversation: into a project, out of it, and its sources for the project. */
export function MoveItems({
  summary: { id, title, projectId },
  projects,
  actions,
}: {
  summary: ConversationSummary;
  projects: readonly Project[];
  actions: ProjectActions;
}) {
  const { t } = useTranslation('chat');
  const own = projects.find((each) => each.id === projectId);
  return (
    <>
      <Menu.Sub>
        <Menu.Sub.Target>
          <Menu.Sub.Item leftSection={<IconFolder size={15} />}>{t('projects.move')}</Menu.Sub.Item>
        </Menu.Sub.Target>
        <Menu.Sub.Dropdown mah="60vh" style={{ overflowY: 'auto' }}>
          {projects
            .filter((each) => each !== own)
            .map((project) => (
              <Menu.Item key={project.id} onClick={() => actions.move(id, project.id)}>
                {project.name}
              </Menu.Item>
            ))}
          <Menu.Item leftSection={<IconFolderPlus size={15} />} onClick={() => actions.createFrom(id, title)}>
            {t('projects.createFrom')}
          </Menu.Item>
          {own && (
            <Menu.Item leftSection={<IconFolderOff size={15} />} onClick={() => actions.move(id, null)}>
              {t('projects.moveOut', { name: own.name })}
            </Menu.Item>
          )}
        </Menu.Sub.Dropdown>
      </Menu.Sub>
      {own && (
        <Menu.Item leftSection={<IconAdjustments size={15} />} onClick={() => actions.adopt(own, id)}>
          {t('projects.adopt', { name: own.name })}
        </Menu.Item>
      )}
    </>
  );
}
