import { Drawer } from '@mantine/core';
import { useViewportSize } from '@mantine/hooks';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useParams, useSearch } from 'wouter';
import type { Project } from '../../../src-shared/contract/projects.ts';
import { askedScope } from '../../ui/ask-address.ts';
import type { ChatSlots } from './chat-slots.ts';
import { ConversationView } from './ConversationView.tsx';
import { NEW, setAttachments, startIn, useChatLayout, useChatState } from './chat-state.ts';
import { HelpModal } from './HelpModal.tsx';
import { useLiveFeed } from './live/live-store.ts';
import { ReportPane, WidthToggle } from './report/ReportPane.tsx';
import { Sidebar } from './sidebar/Sidebar.tsx';
import { useConversationActions } from './sidebar/useConversationActions.ts';
import { useKeptDrafts } from './useKeptDrafts.ts';
import { useChatKeys } from './useChatKeys.ts';
import classes from './ChatScreen.module.css';

/** Minimum window widths, in pixels, for the list, and for the list next to a report. */
const LIST_FROM = 1180;
const LIST_AND_REPORT_FROM = 1400;
const REPORT_FROM = 1000;

/** Conversations on the left, the selected one in the middle, an answer's report on the right. */
export default function ChatScreen({ slots }: { slots: ChatSlots }) {
  useLiveFeed();
  useKeptDrafts();
  const { id } = useParams<{ id?: string }>();
  const [, navigate] = useLocation();
  const composer = useRef<HTMLTextAreaElement>(null);
  const searchInput = useRef<HTMLInputElement>(null);
  const opened = useChatState((state) => state.report);
  const report = opened?.conversationId === id ? opened : null;
  const actions = useConversationActions(id);
  const list = useListPlacement(report !== null);

  useAskedScope();
  const closeReport = (): void => void useChatState.setState({ report: null });
  const startNew = (project?: Project): void => {
    closeReport();
    setAttachments(NEW, () => []);
    startIn(project);
    navigate('/');
    composer.current?.focus();
  };
  const search = (): void => {
    list.show();
    requestAnimationFrame(() => searchInput.current?.focus());
  };
  useChatKeys({
    startNew: () => startNew(),
    search,
    toggleList: list.toggle,
    focusComposer: () => composer.current?.focus(),
  });

  const sidebar = (
    <Sidebar
      activeId={id}
      actions={actions}
      searchInput={searchInput}
      onNew={(project) => {
        list.closeDrawer();
        startNew(project);
      }}
      onOpen={list.closeDrawer}
      onHide={list.toggle}
    />
  );
  return (
    <div className={classes.screen}>
      {list.inline && sidebar}
      <ListDrawer opened={list.drawer} onClose={list.closeDrawer}>
        {sidebar}
      </ListDrawer>
      <ConversationView
        key={id ?? NEW}
        id={id}
        composer={composer}
        slots={slots}
        listShown={list.inline}
        onShowList={list.show}
      />
      {report && (
        <ReportPane overlay={list.width < REPORT_FROM} onClose={closeReport}>
          <slots.Report
            key={report.answerId}
            {...report}
            onClose={closeReport}
            controls={list.width >= REPORT_FROM && <WidthToggle />}
          />
        </ReportPane>
      )}
      <HelpModal />
    </div>
  );
}

/** The address may restrict what to ask about; a new conversation starts with that scope. */
function useAskedScope(): void {
  const [, navigate] = useLocation();
  const query = useSearch();
  useEffect(() => {
    const scope = askedScope(query);
    if (!scope) return;
    useChatState.setState(({ newOptions }) => ({ newOptions: { ...newOptions, scope }, newProjectId: null }));
    navigate('/', { replace: true });
  }, [query, navigate]);
}

function ListDrawer({
  opened,
  onClose,
  children,
}: {
  opened: boolean;
  onClose: () => void;
  children: ReactNode;
}) {
  const { t } = useTranslation('chat');
  return (
    <Drawer.Root opened={opened} onClose={onClose} size={272}>
      <Drawer.Overlay />
      <Drawer.Content aria-label={t('list.label')}>
        <Drawer.Body p={0} h="100%">
          {children}
        </Drawer.Body>
      </Drawer.Content>
    </Drawer.Root>
  );
}

/** The list is docked if there is room and the user wants it, otherwise in a drawer. */
function useListPlacement(reportOpen: boolean) {
  const { width } = useViewportSize();
  const wanted = useChatLayout((state) => state.sidebar);
  const [drawer, setDrawer] = useState(false);
  const room = width >= (reportOpen ? LIST_AND_REPORT_FROM : LIST_FROM);
  return {
    width,
    inline: room && wanted,
    drawer: drawer && !room,
    closeDrawer: () => setDrawer(false),
    show: () => (room ? useChatLayout.setState({ sidebar: true }) : setDrawer(true)),
    toggle: () => (room ? useChatLayout.setState({ sidebar: !wanted }) : setDrawer(!drawer)),
  };
}
