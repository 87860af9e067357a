import { ActionIcon, CloseButton, TextInput, Tooltip } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconLayoutSidebarLeftCollapse, IconPencilPlus, IconSearch } from '@tabler/icons-react';
import { useState, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import { useCall } from '../../../client/context.tsx';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { ConversationList } from './ConversationList.tsx';
import type { ConversationActions } from './useConversationActions.ts';
import classes from './Sidebar.module.css';

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
  onNew: () => void;
  onOpen: () => void;
  onHide: () => void;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const [search, setSearch] = useState('');
  const [settled] = useDebouncedValue(search.trim(), 150);
  const { data, error, refetch } = useCall('chat.list', { search: settled }, { keepPrevious: true });
  return (
    <aside className={classes.sidebar} aria-label={t('list.label')}>
      <div className={classes.head}>
        <TextInput
          ref={searchInput}
          size="sm"
          flex={1}
          aria-label={t('list.search')}
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
        <Tooltip label={t('list.new')}>
          <ActionIcon size={34} variant="light" aria-label={t('list.new')} onClick={onNew}>
            <IconPencilPlus size={18} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t('list.hide')}>
          <ActionIcon size={34} variant="subtle" color="gray" aria-label={t('list.hide')} onClick={onHide}>
            <IconLayoutSidebarLeftCollapse size={18} />
          </ActionIcon>
        </Tooltip>
      </div>
      {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
      {data && data.length > 0 && (
        <ConversationList summaries={data} activeId={activeId} actions={actions} onOpen={onOpen} />
      )}
      {data?.length === 0 && (
        <p className={classes.none}>
          {settled === '' ? t('list.none') : t('list.noMatch', { search: settled })}
        </p>
      )}
    </aside>
  );
}
