import { ActionIcon, Stack, Tooltip } from '@mantine/core';
import { IconAlertTriangle, IconCircleCheck, IconReload } from '@tabler/icons-react';
import { useMemo } from 'react';
import { failureWords } from '../../i18n/failures.ts';
import { useTranslation } from 'react-i18next';
import { Link } from 'wouter';
import type { ParsedInputOf } from '../../../src-shared/contract/contract.ts';
import { isSearchable, type DocumentInfo } from '../../../src-shared/contract/libraries.ts';
import { useCall } from '../../client/context.tsx';
import { Meter } from '../../ui/Meter.tsx';
import { useColumnKinds } from '../../ui/useColumnKinds.ts';
import { useFormat } from '../../ui/useFormat.ts';
import { useNotBlended } from '../../ui/useNotBlended.ts';
import type { Column } from '../../ui/VirtualTableParts.tsx';
import { documentAddress } from './document-address.ts';
import { useDocumentActions } from './useDocumentActions.ts';
import classes from './Library.module.css';

export type DocumentSort = ParsedInputOf<'documents.list'>['sort'];
import { joinSentences } from '../../i18n/join-sentences.ts';

export function useDocumentColumns(): Column<DocumentInfo, DocumentSort>[] {
  const { t } = useTranslation(['library', 'common']);
  const { number, bytes, ago } = useColumnKinds();
  return useMemo(
    () => [
      {
        id: 'title',
        header: t('common:table.document'),
        width: 'minmax(180px, 3fr)',
        sort: 'title',
        cell: (document, active) => <Name document={document} active={active} />,
      },
      {
        id: 'format',
        header: t('documents.format'),
        width: '62px',
        from: 760,
        cell: ({ format: name }) => name.toUpperCase(),
      },
      number({ id: 'pages', header: t('documents.pages'), width: '56px', from: 680 }, (row) => row.pages),
      bytes(
        { id: 'bytes', header: t('common:table.size'), width: '76px', from: 900, sort: 'bytes' },
        (row) => row.bytes,
      ),
      ago(
        { id: 'modified', header: t('documents.modified'), width: '120px', from: 1040, sort: 'modified' },
        (row) => row.modifiedMs,
      ),
      number(
        { id: 'tokens', header: t('common:table.tokens'), width: '72px', sort: 'tokens' },
        (row) => row.tokens || null,
      ),
      {
        id: 'cached',
        header: t('documents.cached'),
        width: '92px',
        cell: (document) => <Cached document={document} />,
      },
      {
        id: 'state',
        header: t('documents.state'),
        width: 'minmax(130px, 1.2fr)',
        cell: (document, active) => <State document={document} active={active} />,
      },
    ],
    [t, number, bytes, ago],
  );
}

function Name({ document, active }: { document: DocumentInfo; active: boolean }) {
  const { t } = useTranslation(['library', 'common']);
  const { id, title, path, warnings } = document;
  return (
    <div className={classes.name}>
      <span className={classes.nameTitle}>
        <Link href={documentAddress(id)} tabIndex={active ? 0 : -1} title={title}>
          {title}
        </Link>
        {warnings.length > 0 && (
          <Tooltip label={warnings.join(' ')} multiline maw={360}>
            <IconAlertTriangle
              size={14}
              className={classes.warning}
              role="img"
              aria-label={`${t('documents.warnings', { title })}: ${warnings.join(' ')}`}
            />
          </Tooltip>
        )}
      </span>
      <span className={classes.path} title={path}>
        {path}
      </span>
    </div>
  );
}

function Cached({ document: { chunks, cachedChunks } }: { document: DocumentInfo }) {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const notBlended = useNotBlended();
  if (chunks === 0 || (cachedChunks === 0 && notBlended !== undefined))
    return <span title={notBlended}>–</span>;
  const numbers = { cached: format.number(cachedChunks), total: format.number(chunks) };
  return (
    <div className={classes.cached}>
      <span>
        {numbers.cached} / {numbers.total}
      </span>
      <Meter
        share={cachedChunks / chunks}
        height={4}
        color="var(--kv-disk)"
        label={t('documents.cachedOf', numbers)}
      />
    </div>
  );
}

function State({ document, active }: { document: DocumentInfo; active: boolean }) {
  const { t } = useTranslation(['library', 'common']);
  if (document.phase === 'ready') {
    return (
      <span className={classes.state}>
        <IconCircleCheck size={16} className={classes.ready} aria-hidden />
        {t('phase.ready')}
      </span>
    );
  }
  if (document.phase === 'failed') return <Failed document={document} active={active} />;
  return <Working document={document} />;
}

/** The UI shows one document in progress at a time; the others wait. */
function Working({ document }: { document: DocumentInfo }) {
  const { t } = useTranslation(['library', 'common']);
  const current = useCall('queue.status').data?.current;
  const mine = current?.documentId === document.id ? current : undefined;
  return (
    <Stack gap={4} flex={1} miw={0} component="span">
      <span title={mine || !isSearchable(document) ? undefined : t('phase.foundAlready')}>
        {t(`phase.${mine?.phase ?? 'waiting'}`)}
      </span>
      {mine && mine.total > 0 && (
        <Meter share={mine.done / mine.total} height={3} label={t(`phase.${mine.phase}`)} />
      )}
    </Stack>
  );
}

function Failed({ document, active }: { document: DocumentInfo; active: boolean }) {
  const { t, i18n } = useTranslation(['library', 'common']);
  const { retry } = useDocumentActions();
  const words = document.failure && failureWords(document.failure, i18n.language);
  const sentence = words ? joinSentences([words.message, words.advice, words.detail]) : t('phase.failed');
  return (
    <span className={classes.state}>
      <Tooltip label={sentence} multiline maw={360}>
        <span className={classes.reason}>{words?.message ?? t('phase.failed')}</span>
      </Tooltip>
      <ActionIcon
        color="red"
        size="sm"
        tabIndex={active ? 0 : -1}
        aria-label={t('documents.retryOne', { title: document.title })}
        onClick={() => retry([document.id])}
      >
        <IconReload size={15} />
      </ActionIcon>
    </span>
  );
}
