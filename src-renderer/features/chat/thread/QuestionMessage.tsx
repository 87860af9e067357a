import { Button, Group, Textarea, VisuallyHidden } from '@mantine/core';
import { IconPencil } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isComposing } from '../composer/keys.ts';
import { BranchSwitch } from './BranchSwitch.tsx';
import { CopyAction } from './CopyAction.tsx';
import { IconAction } from './IconAction.tsx';
import type { ShownMessage } from './tree.ts';
import classes from './Thread.module.css';

/** A question; editing it creates a branch. */
export function QuestionMessage({
  shown: { message, siblings },
  busy,
  editing,
  onEditing,
  onEdit,
  onSelect,
}: {
  shown: ShownMessage;
  busy: boolean;
  editing: boolean;
  onEditing: (editing: boolean) => void;
  onEdit: (text: string) => void;
  onSelect: (id: string) => void;
}) {
  const { t } = useTranslation('chat');
  if (editing) return <QuestionEditor text={message.text} onDone={() => onEditing(false)} onEdit={onEdit} />;
  return (
    <article
      className={classes.question}
      aria-label={t('thread.you')}
      data-message={message.id}
      tabIndex={-1}
    >
      <VisuallyHidden component="h2">{t('thread.you')}</VisuallyHidden>
      <div className={classes.bubble}>{message.text}</div>
      <div className={classes.actions}>
        <BranchSwitch message={message} siblings={siblings} onSelect={onSelect} />
        <CopyAction text={message.text} label={t('message.copyQuestion')} />
        <IconAction
          label={t('message.edit')}
          icon={<IconPencil size={16} />}
          disabled={busy}
          onClick={() => onEditing(true)}
        />
      </div>
    </article>
  );
}

function QuestionEditor({
  text,
  onDone,
  onEdit,
}: {
  text: string;
  onDone: () => void;
  onEdit: (text: string) => void;
}) {
  const { t } = useTranslation(['chat', 'common']);
  const [draft, setDraft] = useState(text);
  const save = (): void => {
    if (draft.trim() === '') return;
    onDone();
    if (draft.trim() !== text) onEdit(draft.trim());
  };
  return (
    <div className={classes.editor}>
      <Textarea
        aria-label={t('message.editLabel')}
        autosize
        minRows={1}
        maxRows={12}
        value={draft}
        autoFocus
        onFocus={({ target }) => target.setSelectionRange(target.value.length, target.value.length)}
        onChange={({ target }) => setDraft(target.value)}
        onKeyDown={(event) => {
          if (isComposing(event)) return;
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault();
            save();
          } else if (event.key === 'Escape') {
            event.stopPropagation();
            onDone();
          }
        }}
      />
      <Group gap="xs" justify="flex-end" mt={6}>
        <Button size="compact-sm" variant="default" onClick={onDone}>
          {t('common:action.cancel')}
        </Button>
        <Button size="compact-sm" disabled={draft.trim() === ''} onClick={save}>
          {t('message.sendEdited')}
        </Button>
      </Group>
    </div>
  );
}
