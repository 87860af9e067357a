import { Loader, Tooltip } from '@mantine/core';
import {
  IconFolder,
  IconKeyboard,
  IconLayoutSidebarLeftExpand,
  IconMessageOff,
  IconPrinter,
} from '@tabler/icons-react';
import { useEffect, useState, type RefObject } from 'react';
import type { ShownFailure } from '../../i18n/failures.ts';
import { useTranslation } from 'react-i18next';
import { useLocation, useSearch } from 'wouter';
import type { Conversation } from '../../../src-shared/contract/chat.ts';
import type { Project } from '../../../src-shared/contract/projects.ts';
import { useCall } from '../../client/context.tsx';
import { DropHint } from '../../ui/DropHint.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { FailureAlert } from '../../ui/FailureAlert.tsx';
import { IconButton } from '../../ui/IconButton.tsx';
import { useFileDrop } from '../../ui/useFileDrop.ts';
import { useFormat } from '../../ui/useFormat.ts';
import { NEW, useChatState } from './chat-state.ts';
import type { ChatSlots } from './chat-slots.ts';
import { Composer } from './composer/Composer.tsx';
import { withDocuments } from './composer/scope.ts';
import { useAttach } from './composer/useAttach.ts';
import { isUnfinished } from './live/live-answers.ts';
import { useEnded, useReconciled } from './live/live-store.ts';
import { Thread } from './thread/Thread.tsx';
import { branchOf } from './thread/tree.ts';
import { ProjectModel } from './projects/ProjectModel.tsx';
import { ModelSwitch } from './ModelSwitch.tsx';
import { ServerBadge } from './ServerBadge.tsx';
import { useAsk } from './useAsk.ts';
import { useConversationEdits } from './useConversationEdits.ts';
import { useConversationKeys } from './useConversationKeys.ts';
import classes from './ChatScreen.module.css';

/** One conversation (or a new one): header, thread, composer. */
export function ConversationView({
  id,
  composer,
  slots,
  listShown,
  onShowList,
}: {
  id: string | undefined;
  composer: RefObject<HTMLTextAreaElement | null>;
  slots: ChatSlots;
  listShown: boolean;
  onShowList: () => void;
}) {
  const {
    data: conversation,
    error,
    isLoading,
    refetch,
  } = useCall('chat.get', { id: id ?? NEW }, { enabled: id !== undefined });
  useReconciled(conversation);
  const asking = useAsk(id, slots.onSent);
  const edits = useConversationEdits(conversation);
  const [editingId, setEditingId] = useState<string>();
  const edit = (questionId: string | undefined): void => {
    setEditingId(questionId);
    // The focused element disappeared with the field.
    if (questionId === undefined) composer.current?.focus();
  };
  const { t } = useTranslation('chat');
  const stateKey = id ?? NEW;
  const pending = useChatState((state) => state.pending[stateKey]);
  const newProjectId = useChatState((state) => state.newProjectId);
  const projectId = conversation ? conversation.projectId : newProjectId;
  const { data: projects } = useCall('projects.list');
  const project = projects?.find((each) => each.id === projectId);
  const newOptions = useChatState((state) => state.newOptions);

  const branch = conversation ? branchOf(conversation.messages, conversation.leafId) : [];
  const last = branch.at(-1)?.message;
  const ended = useEnded(last?.id);
  const busy = last?.role === 'assistant' && isUnfinished(last) && !ended;
  const lastQuestion = branch.findLast(({ message }) => message.role === 'user')?.message;
  const lastAnswer = branch.findLast(({ message }) => message.role === 'assistant')?.message;
  const hasReport = ended?.hasReport ?? lastAnswer?.hasReport ?? false;
  useConversationKeys({ id, busy, lastAnswer, hasReport, asking });

  const [, navigate] = useLocation();
  const target = new URLSearchParams(useSearch()).get('message') ?? undefined;
  const hidden =
    !branch.some(({ message }) => message.id === target) &&
    conversation?.messages.some((message) => message.id === target);
  useEffect(() => {
    if (hidden && target !== undefined) edits.select(target);
  });

  const empty = branch.length === 0 && !pending;
  const firstAnswered = branch.length === 2 && !busy && last?.state === 'done';
  const attach = useAttach(stateKey, (ids) => edits.changeOptions((now) => withDocuments(now, ids)));
  const { over, handlers } = useFileDrop(attach.drop);
  return (
    <section className={classes.conversation} data-print="" {...handlers}>
      <Header conversation={conversation} project={project} listShown={listShown} onShowList={onShowList} />
      {project && <ProjectModel project={project} />}
      {error ? (
        <Missing error={error} onRetry={() => void refetch()} />
      ) : isLoading ? (
        <Loader m="auto" size="sm" />
      ) : empty ? (
        <div className={classes.empty}>
          <slots.Welcome onAsk={(question) => void asking.ask(question)} />
        </div>
      ) : (
        <Thread
          stateKey={stateKey}
          branch={branch}
          busy={busy}
          asking={asking}
          editingId={editingId}
          onEditing={edit}
          onSelect={edits.select}
          target={target}
          onTarget={() => navigate(`/chat/${id}`, { replace: true })}
          footer={firstAnswered ? <slots.AfterFirstAnswer /> : undefined}
        />
      )}
      {!error && (
        <Composer
          stateKey={stateKey}
          conversationId={id ?? null}
          input={composer}
          options={conversation?.options ?? newOptions}
          busy={busy}
          disabled={pending !== undefined && pending.failure === null}
          attach={attach}
          onOptions={edits.changeOptions}
          onAsk={(text) => void asking.ask(text)}
          onStop={asking.stop}
          onEditLast={() => setEditingId(lastQuestion?.id)}
        />
      )}
      {over && <DropHint title={t('scope.drop')} text={t('scope.dropText')} />}
    </section>
  );
}

function Header({
  conversation,
  project,
  listShown,
  onShowList,
}: {
  conversation: Conversation | undefined;
  project: Project | undefined;
  listShown: boolean;
  onShowList: () => void;
}) {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const resident = conversation?.residentTokens ?? 0;
  return (
    <header className={classes.header}>
      {!listShown && (
        <IconButton label={t('list.show')} onClick={onShowList}>
          <IconLayoutSidebarLeftExpand size={19} />
        </IconButton>
      )}
      {project && (
        <span className={classes.project} title={t('projects.title')}>
          <IconFolder size={16} aria-hidden />
          <span>{project.name}</span>
        </span>
      )}
      <h1 className={classes.title}>{conversation?.title || t('thread.untitled')}</h1>
      <ServerBadge />
      <ModelSwitch />
      {resident > 0 && (
        <Tooltip label={t('thread.residentHelp')} multiline maw={300}>
          <span className={classes.resident}>
            <span aria-hidden />
            {t('thread.resident', { count: resident, formatted: format.number(resident) })}
          </span>
        </Tooltip>
      )}
      {conversation && conversation.leafId !== null && (
        <IconButton label={t('thread.print')} onClick={() => window.print()}>
          <IconPrinter size={19} />
        </IconButton>
      )}
      <IconButton label={t('help.title')} onClick={() => useChatState.setState({ helpOpen: true })}>
        <IconKeyboard size={19} />
      </IconButton>
    </header>
  );
}

function Missing({ error, onRetry }: { error: ShownFailure; onRetry: () => void }) {
  const { t } = useTranslation('chat');
  if (error.code === 'NOT_FOUND') {
    return (
      <EmptyState icon={<IconMessageOff />} title={t('thread.missing')} text={t('thread.missingText')} />
    );
  }
  return (
    <div style={{ padding: '1.5rem' }}>
      <FailureAlert failure={error} onRetry={onRetry} />
    </div>
  );
}
