import { CloseButton, Loader, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconBooks, IconFileOff, IconFileText, type Icon } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import type { ConversationOptions } from '../../../../src-shared/contract/chat.ts';
import { isSearchable, type DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import { useCall } from '../../../client/context.tsx';
import { failureWords, type ShownFailure } from '../../../i18n/failures.ts';
import { joinSentences } from '../../../i18n/join-sentences.ts';
import { setAttachments } from '../chat-state.ts';
import type { ShownScope } from './useScope.ts';
import classes from './ScopeChips.module.css';

/** Maximum number of documents shown individually. */
const SHOWN = 5;

/** The conversation's scope as removable chips. Renders nothing if it covers all documents. */
export function ScopeChips({
  stateKey,
  options,
  scope,
  onRemove,
  onClear,
}: {
  stateKey: string;
  options: ConversationOptions;
  scope: ShownScope;
  onRemove: (id: string) => void;
  onClear: () => void;
}) {
  const { t } = useTranslation('chat');
  const { data: libraries } = useCall('libraries.list');
  const { documentIds, libraryIds } = options.scope;
  const { attachments, documents } = scope;
  if (documentIds.length + libraryIds.length + attachments.length === 0) return null;
  const more = documentIds.length - SHOWN;
  return (
    <ul className={classes.chips} aria-label={t('scope.label')}>
      {libraryIds.map((id) => {
        const name = libraries?.find((library) => library.id === id)?.name ?? t('scope.gone');
        return <Chip key={id} icon={IconBooks} name={name} onRemove={() => onRemove(id)} />;
      })}
      {documents &&
        documentIds.slice(0, SHOWN).map((id) => {
          const document = documents.find((each) => each.id === id);
          return <DocumentChip key={id} document={document} onRemove={() => onRemove(id)} />;
        })}
      {more > 0 && (
        <Chip name={t('scope.more', { count: more })} removeLabel={t('scope.clear')} onRemove={onClear} />
      )}
      {attachments.map(({ id, name, failure }) => (
        <Chip
          key={`file ${id}`}
          icon={IconFileText}
          name={name}
          {...(failure ? { failure } : { working: t('scope.adding') })}
          {...(failure && {
            onRemove: () => setAttachments(stateKey, (before) => before.filter((each) => each.id !== id)),
          })}
        />
      ))}
    </ul>
  );
}

function DocumentChip({ document, onRemove }: { document: DocumentInfo | undefined; onRemove: () => void }) {
  const { t } = useTranslation('chat');
  if (!document) return <Chip icon={IconFileOff} name={t('scope.gone')} onRemove={onRemove} />;
  const { title, path, phase, failure } = document;
  const working = phase !== 'failed' && !isSearchable(document);
  return (
    <Chip
      icon={IconFileText}
      name={title}
      hint={path}
      onRemove={onRemove}
      {...(failure && phase === 'failed' && { failure })}
      {...(working && { working: t('scope.reading') })}
    />
  );
}

function Chip({
  icon: ChipIcon,
  name,
  hint,
  working,
  failure,
  removeLabel,
  onRemove,
}: {
  icon?: Icon;
  name: string;
  hint?: string;
  /** Pending work on the document. */
  working?: string;
  failure?: ShownFailure;
  removeLabel?: string;
  onRemove?: () => void;
}) {
  const { t, i18n } = useTranslation('chat');
  const words = failure && failureWords(failure, i18n.language);
  const sentence = words && joinSentences([words.message, words.advice]);
  return (
    <Tooltip label={sentence ?? hint} disabled={(sentence ?? hint) === undefined} multiline maw={360}>
      <li className={classes.chip} data-failed={failure !== undefined}>
        {working !== undefined && <Loader size={12} aria-hidden />}
        {working === undefined && failure && <IconAlertTriangle size={14} aria-hidden />}
        {working === undefined && !failure && ChipIcon && <ChipIcon size={14} aria-hidden />}
        <span className={classes.name}>{name}</span>
        {working !== undefined && (
          <span className={classes.state} role="status">
            {working}
          </span>
        )}
        {sentence !== undefined && <span className={classes.state}>{words?.message}</span>}
        {onRemove && (
          <CloseButton
            size={20}
            iconSize={13}
            aria-label={removeLabel ?? t('scope.remove', { name })}
            onClick={onRemove}
          />
        )}
      </li>
    </Tooltip>
  );
}
