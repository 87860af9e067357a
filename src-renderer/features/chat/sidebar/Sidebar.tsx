import { CloseButton, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconLayoutSidebarLeftCollapse, IconPencilPlus, IconSearch } from '@tabler/icons-react';
import { useState, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import type { Project } from '../../../../src-shared/contract/projects.ts';
import { useCall } from '../../../client/context.tsx';
import { DropHint } from '../../../ui/DropHint.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { IconButton } from '../../../ui/IconButton.tsx';
import { useFileDrop } from '../../../ui/useFileDrop.ts';
import { ProjectsBar } from '../projects/ProjectsBar.tsx';
import { useProjectActions } from '../projects/useProjectActions.tsx';
import { ConversationList } from './ConversationList.tsx';
import type { ConversationActions } from './useConversationActions.ts';
import classes from './Sidebar.module.css';

const NO_PROJECTS: readonly Project[] = [];

/** All conversations, searchable by content. */
export function Sidebar({
  activeId,
  actions,
  searchInput,
  onNew,
  onOpen,
  onHide,
}: {
  activeId: string | undefined;
  actions: ConversationActions;
  searchInput: RefObject<HTMLInputElement | null>;
  onNew: (project?: Project) => void;
  onOpen: () => void;
  onHide: () => void;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const [search, setSearch] = useState('');
  const [settled] = useDebouncedValue(search.trim(), 150);
  const { data, error, refetch } = useCall('chat.list', { search: settled }, { keepPrevious: true });
  const { data: projects = NO_PROJECTS } = useCall('projects.list');
  const projectActions = useProjectActions(onNew);
  const { over, handlers } = useFileDrop(projectActions.drop);
  return (
    <aside className={classes.sidebar} aria-label={t('list.label')} {...handlers}>
      <div className={classes.head}>
        <TextInput
          ref={searchInput}
          size="sm"
          flex={1}
          aria-label={t('help.search')}
          placeholder={t('common:action.search')}
          leftSection={<IconSearch size={15} aria-hidden />}
          rightSection={
            search !== '' && (
              <CloseButton size="sm" aria-label={t('common:action.clear')} onClick={() => setSearch('')} />
            )
          }
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape' || search === '') return;
            event.stopPropagation();
            setSearch('');
          }}
        />
        <IconButton label={t('help.new')} color="kvasir" size={34} variant="light" onClick={() => onNew()}>
          <IconPencilPlus size={18} />
        </IconButton>
        <IconButton label={t('list.hide')} size={34} onClick={onHide}>
          <IconLayoutSidebarLeftCollapse size={18} />
        </IconButton>
      </div>
      <ProjectsBar actions={projectActions} />
      {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
      {data && (data.length > 0 || (settled === '' && projects.length > 0)) && (
        <ConversationList
          summaries={data}
          projects={settled === '' ? projects : NO_PROJECTS}
          activeId={activeId}
          actions={actions}
          projectActions={projectActions}
          onOpen={onOpen}
        />
      )}
      {data?.length === 0 && (
        <p className={classes.none}>
          {settled === '' ? t('list.none') : t('list.noMatch', { search: settled })}
        </p>
      )}
      {over && <DropHint title={t('projects.drop')} text={t('projects.dropText')} />}
    </aside>
  );
}
