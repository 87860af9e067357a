import { ActionIcon, Alert, Button, Loader, SegmentedControl, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconArrowLeft, IconListSearch, IconMessageQuestion } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation, useSearch } from 'wouter';
import type { DocumentInfo } from '../../../../src-shared/contract/libraries.ts';
import { hasSheets } from '../../../../src-shared/sheets.ts';
import { isReadAsText, viewerOf } from '../../../../src-shared/viewing.ts';
import { useCall } from '../../../client/context.tsx';
import { useCommands } from '../../../ui/commands.ts';
import { askAddress } from '../../../ui/ask-address.ts';
import { FailureAlert } from '../../../ui/FailureAlert.tsx';
import { Page } from '../../../ui/Page.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import { useDocumentActions } from '../useDocumentActions.ts';
import { ChunkSizes } from './ChunkSizes.tsx';
import { ChunkTable } from './ChunkTable.tsx';
import { GridView } from './GridView.tsx';
import { DocumentText } from './DocumentText.tsx';
import { WebSource } from './WebSource.tsx';
import { OriginalView } from './original/OriginalView.tsx';
import { passageOf } from './text-parts.ts';
import classes from './Document.module.css';

const VIEWS = ['original', 'grid', 'text', 'chunks', 'sizes'] as const;
type View = (typeof VIEWS)[number];

/** One document: as it looks, its text with chunk boundaries, its chunks, and a preview of other chunk sizes. */
export function DocumentPage({ id }: { id: string }) {
  const { t } = useTranslation(['library', 'common']);
  const { data: document, error, refetch } = useCall('documents.get', { id });
  const query = useSearch();
  const asked = useMemo(() => passageOf(query), [query]);
  const [chosen, setChosen] = useState<{ start: number; end: number }>();
  const [chosenView, setView] = useState<View>();
  const view = chosenView ?? firstView(document?.format ?? '');
  const passage = chosen ?? asked;
  return (
    <Page
      title={document?.title ?? ''}
      subtitle={document ? <Summary document={document} /> : ' '}
      actions={document && <Actions document={document} view={view} onView={setView} />}
      scroll={false}
    >
      <Stack gap={12} h="100%" mih={0}>
        {error && <FailureAlert failure={error} onRetry={() => void refetch()} />}
        {!document && !error && <Loader m="auto" aria-label={t('common:loading')} />}
        {document && <Notes document={document} />}
        {(view === 'original' || view === 'grid') && <Changed id={id} />}
        {document && view === 'original' && (
          <OriginalView key={passageKey(passage)} document={document} passage={passage} />
        )}
        {document && view === 'grid' && <GridView document={document} passage={passage} />}
        {document && view === 'text' && (
          <DocumentText key={passageKey(passage)} document={document} passage={passage} />
        )}
        {document && view === 'chunks' && (
          <ChunkTable
            document={document}
            onOpen={({ start, end }) => {
              setChosen({ start, end });
              setView('text');
            }}
          />
        )}
        {document && view === 'sizes' && <ChunkSizes document={document} />}
      </Stack>
    </Page>
  );
}

function Summary({ document }: { document: DocumentInfo }) {
  const { t } = useTranslation(['common', 'library']);
  const format = useFormat();
  const { path, bytes, pages, tokens, chunks, cachedChunks, cacheBytes } = document;
  const parts = [
    path,
    format.bytes(bytes),
    ...(pages === null ? [] : [t('unit.pages', { count: pages })]),
    t('unit.tokens', { count: tokens }),
    t('library:documents.cachedOf', {
      cached: format.number(cachedChunks),
      total: format.number(chunks),
    }),
    ...(cacheBytes > 0 ? [t('library:document.cacheSize', { size: format.bytes(cacheBytes) })] : []),
  ];
  return (
    <span className={classes.summary} title={path}>
      {parts.join(' · ')}
    </span>
  );
}

function Actions({
  document,
  view,
  onView,
}: {
  document: DocumentInfo;
  view: View;
  onView: (view: View) => void;
}) {
  const { t } = useTranslation('library');
  const [, navigate] = useLocation();
  const analyse = `/analysis/new?document=${encodeURIComponent(document.id)}`;
  const ask = askAddress({ documentIds: [document.id] });
  useCommands([
    { id: 'ask-document', label: t('document.ask'), run: () => navigate(ask) },
    { id: 'analyse-document', label: t('document.analyseThis'), run: () => navigate(analyse) },
  ]);
  return (
    <>
      <SegmentedControl<View>
        size="sm"
        aria-label={t('document.views.label')}
        data={VIEWS.filter((value) => isOffered(value, document.format)).map((value) => ({
          value,
          label: t(`document.views.${value}`),
        }))}
        value={view}
        onChange={onView}
      />
      <Button
        component={Link}
        href={ask}
        aria-label={t('document.ask')}
        leftSection={<IconMessageQuestion size={16} aria-hidden />}
      >
        {t('document.askShort')}
      </Button>
      <Button
        component={Link}
        href={analyse}
        variant="default"
        leftSection={<IconListSearch size={16} aria-hidden />}
      >
        {t('document.analyse')}
      </Button>
      <ActionIcon
        component={Link}
        href={`/library/${encodeURIComponent(document.libraryId)}`}
        variant="default"
        size={36}
        aria-label={t('document.back')}
        title={t('document.back')}
      >
        <IconArrowLeft size={16} aria-hidden />
      </ActionIcon>
    </>
  );
}

/** Explains the document's state: failed, in progress, or partly unreadable. */
function Notes({ document }: { document: DocumentInfo }) {
  const { t } = useTranslation('library');
  const { retry } = useDocumentActions();
  const { id, failure, phase, warnings } = document;
  return (
    <>
      <WebSource document={document} />
      {failure && <FailureAlert failure={failure} onRetry={() => retry([id])} />}
      {phase !== 'ready' && phase !== 'failed' && (
        <Text c="dimmed" role="status">
          {t('document.notReady', { phase: t(`phase.${phase}`) })}
        </Text>
      )}
      {warnings.length > 0 && (
        <Alert color="orange" py={8} icon={<IconAlertTriangle />} title={t('document.warnings')}>
          {warnings.map((warning) => (
            <Text key={warning}>{warning}</Text>
          ))}
        </Alert>
      )}
    </>
  );
}

/** The file itself is shown, and it is no longer the one that answers are made from. */
function Changed({ id }: { id: string }) {
  const { t } = useTranslation('library');
  const { data } = useCall('documents.changed', { id });
  if (!data?.changed) return null;
  return (
    <Alert color="orange" py={8}>
      {t('document.changed')}
    </Alert>
  );
}

function isOffered(view: View, format: string): boolean {
  if (view === 'grid') return hasSheets(format);
  return view !== 'original' || viewerOf(format) !== undefined;
}

/** People see a document as they know it. */
function firstView(format: string): View {
  if (hasSheets(format)) return 'grid';
  return isReadAsText(format) ? 'text' : 'original';
}

/** A different passage remounts the text view at that passage. */
function passageKey(passage: { start: number; end: number } | undefined): string {
  return passage ? `${passage.start}-${passage.end}` : '';
}
