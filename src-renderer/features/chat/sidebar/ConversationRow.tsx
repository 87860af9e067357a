import { ActionIcon, Loader, Menu, TextInput } from '@mantine/core';
import {
  IconBraces,
  IconBulb,
  IconDots,
  IconHandStop,
  IconMarkdown,
  IconPencil,
  IconPin,
  IconPinnedOff,
  IconTrash,
} from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ConversationSummary } from '../../../../src-shared/contract/chat.ts';
import type { Project } from '../../../../src-shared/contract/projects.ts';
import { isComposing } from '../composer/keys.ts';
import { useAsking } from '../live/live-store.ts';
import { Marked } from '../Marked.tsx';
import { MoveItems } from '../projects/MoveItems.tsx';
import type { ProjectActions } from '../projects/useProjectActions.tsx';
import type { ConversationActions } from './useConversationActions.ts';
import classes from './Sidebar.module.css';

/** One conversation: title, last message, and a menu of actions. */
export function ConversationRow({
  summary,
  projects,
  projectActions,
  active,
  tabStop,
  renaming,
  actions,
  onFocus,
  onRenaming,
  onOpen,
}: {
  summary: ConversationSummary;
  projects: readonly Project[];
  projectActions: ProjectActions;
  active: boolean;
  /** Whether it is the tab stop; arrow keys reach the others. */
  tabStop: boolean;
  renaming: boolean;
  actions: ConversationActions;
  onFocus: () => void;
  onRenaming: (renaming: boolean) => void;
  onOpen: () => void;
}) {
  const { t } = useTranslation('chat');
  const { id, title, snippet, match, busy } = summary;
  const asks = useAsking(id);
  const name = title === '' ? t('thread.untitled') : title;
  if (renaming) {
    return (
      <Rename
        title={title}
        onDone={(next) => {
          onRenaming(false);
          if (next !== undefined && next !== title) actions.rename(id, next);
        }}
      />
    );
  }
  return (
    <div className={classes.row} data-active={active} onFocus={onFocus}>
      <Link
        href={match?.messageId ? `/chat/${id}?message=${match.messageId}` : `/chat/${id}`}
        className={classes.link ?? ''}
        aria-current={active ? 'page' : undefined}
        tabIndex={tabStop ? 0 : -1}
        onClick={onOpen}
        onDoubleClick={() => onRenaming(true)}
      >
        <span className={classes.title}>
          {asks ? (
            <IconHandStop
              size={14}
              className={classes.asks}
              role="img"
              aria-label={t('calls.state.asking')}
            />
          ) : (
            busy && <Loader size={11} aria-label={t('list.busy')} />
          )}
          <span>
            <Marked text={name} ranges={(title !== '' && match?.title) || []} />
          </span>
        </span>
        <span className={classes.snippet}>
          <Marked text={snippet} ranges={match?.snippet ?? []} />
        </span>
      </Link>
      <RowMenu
        name={name}
        summary={summary}
        projects={projects}
        projectActions={projectActions}
        tabStop={tabStop}
        actions={actions}
        onRename={() => onRenaming(true)}
      />
    </div>
  );
}

function RowMenu({
  summary,
  projects,
  projectActions,
  name,
  tabStop,
  actions,
  onRename,
}: {
  summary: ConversationSummary;
  projects: readonly Project[];
  projectActions: ProjectActions;
  name: string;
  tabStop: boolean;
  actions: ConversationActions;
  onRename: () => void;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const { id, thoughts, pinned } = summary;
  return (
    <Menu position="bottom-end" withinPortal returnFocus={false}>
      <Menu.Target>
        <ActionIcon
          className={classes.menu ?? ''}
          size="sm"
          tabIndex={tabStop ? 0 : -1}
          aria-label={t('list.menu', { title: name })}
        >
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconPencil size={15} />} rightSection="F2" onClick={onRename}>
          {t('common:action.rename')}
        </Menu.Item>
        <Menu.Item
          leftSection={pinned ? <IconPinnedOff size={15} /> : <IconPin size={15} />}
          onClick={() => actions.pin(id, !pinned)}
        >
          {t(pinned ? 'list.unpin' : 'list.pin')}
        </Menu.Item>
        <MoveItems summary={summary} projects={projects} actions={projectActions} />
        <Menu.Item leftSection={<IconMarkdown size={15} />} onClick={() => actions.save(id, 'markdown')}>
          {t('list.exportMarkdown')}
        </Menu.Item>
        {thoughts && (
          <Menu.Item leftSection={<IconBulb size={15} />} onClick={() => actions.save(id, 'markdown', true)}>
            {t('list.exportThoughts')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconBraces size={15} />} onClick={() => actions.save(id, 'json')}>
          {t('list.exportJson')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          color="red"
          leftSection={<IconTrash size={15} />}
          rightSection="Del"
          onClick={() => actions.remove(id, name)}
        >
          {t('common:action.delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** The title as an input. Blur saves the name, Escape discards it. */
function Rename({ title, onDone }: { title: string; onDone: (title: string | undefined) => void }) {
  const { t } = useTranslation('chat');
  const [draft, setDraft] = useState(title);
  const keep = (): void => onDone(draft.trim() === '' ? undefined : draft.trim());
  return (
    <TextInput
      className={classes.rename ?? ''}
      size="sm"
      aria-label={t('list.renameLabel')}
      value={draft}
      maxLength={200}
      autoFocus
      onFocus={({ target }) => target.select()}
      onChange={({ target }) => setDraft(target.value)}
      onBlur={keep}
      onKeyDown={(event) => {
        if (isComposing(event)) return;
        if (event.key === 'Enter') keep();
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onDone(undefined);
      }}
    />
  );
}
