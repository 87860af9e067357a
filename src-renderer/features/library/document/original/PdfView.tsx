import { ActionIcon, Alert, Group, Loader, Stack, Text } from '@mantine/core';
import {
  IconArrowAutofitWidth,
  IconChevronLeft,
  IconChevronRight,
  IconZoomIn,
  IconZoomOut,
} from '@tabler/icons-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Range } from '../../../../../src-shared/contract/common.ts';
import type { DocumentInfo } from '../../../../../src-shared/contract/libraries.ts';
import { useCall } from '../../../../client/context.tsx';
import { fileUrl } from './document-url.ts';
import { passagesByPage } from './passages-by-page.ts';
import { useRecognisedLines } from './useRecognisedLines.ts';
import { PdfPages, type PagePassage } from './pdf-pages.ts';
import classes from './Original.module.css';

/** UTF-16 units of a passage that are marked. */
const MAX_PASSAGE = 20_000;

/** A PDF's pages, drawn by pdf.js. */
export default function PdfView({
  document,
  passage,
}: {
  document: DocumentInfo;
  passage: Range | undefined;
}) {
  const { start, end } = passage ?? { start: 0, end: 1 };
  const limit = Math.min(end - start, MAX_PASSAGE);
  const text = useCall(
    'documents.text',
    { id: document.id, offset: start, limit },
    { enabled: passage !== undefined },
  );
  const lines = useRecognisedLines(document, passage);
  // The pages are drawn once it is known what to mark.
  if (passage && ((!text.data && !text.error) || !lines)) return null;
  const passages = passage && text.data ? passagesByPage(text.data, lines ?? []) : [];
  return <Pages key={`${start}-${end}`} document={document} passages={passages} />;
}

function Pages({ document, passages }: { document: DocumentInfo; passages: readonly PagePassage[] }) {
  const { t } = useTranslation(['library', 'common']);
  const container = useRef<HTMLDivElement>(null);
  const [pages, setPages] = useState<PdfPages>();
  const [place, setPlace] = useState<{ page: number; total: number }>();
  const [isBroken, setIsBroken] = useState(false);
  const first = useRef(passages);
  const { id } = document;
  useEffect(() => {
    const element = container.current;
    if (!element) return;
    let closed = false;
    const opening = PdfPages.open(fileUrl(id), element, first.current, (page, total) =>
      setPlace({ page, total }),
    );
    opening.then(
      (opened) => !closed && setPages(opened),
      () => !closed && setIsBroken(true),
    );
    return () => {
      closed = true;
      void opening.then((opened) => opened.close()).catch(() => undefined);
    };
  }, [id]);
  const { page, total } = place ?? { page: 0, total: 0 };
  return (
    <Stack gap={8} flex={1} mih={0}>
      <Group gap={4} justify="flex-end" role="toolbar" aria-label={t('original.toolbar')}>
        <Tool label={t('original.previousPage')} disabled={page <= 1} onClick={() => pages?.goTo(page - 1)}>
          <IconChevronLeft size={16} />
        </Tool>
        <Text className={classes.pageNumber} aria-live="polite">
          {place && t('original.pageOf', { page, total })}
        </Text>
        <Tool label={t('original.nextPage')} disabled={page >= total} onClick={() => pages?.goTo(page + 1)}>
          <IconChevronRight size={16} />
        </Tool>
        <Tool label={t('common:action.zoomOut')} disabled={!pages} onClick={() => pages?.zoom(-1)}>
          <IconZoomOut size={16} />
        </Tool>
        <Tool label={t('common:action.zoomIn')} disabled={!pages} onClick={() => pages?.zoom(1)}>
          <IconZoomIn size={16} />
        </Tool>
        <Tool label={t('original.fitWidth')} disabled={!pages} onClick={() => pages?.fitWidth()}>
          <IconArrowAutofitWidth size={16} />
        </Tool>
      </Group>
      {isBroken && <Alert color="red" title={t('original.noPdf')} role="alert" />}
      <div className={classes.pdf}>
        {!place && !isBroken && <Loader m="md" role="status" aria-label={t('common:loading')} />}
        <div
          ref={container}
          className={classes.pages}
          role="region"
          tabIndex={0}
          aria-label={t('original.frame', { title: document.title })}
        >
          <div className="pdfViewer" />
        </div>
      </div>
    </Stack>
  );
}

function Tool({
  label,
  disabled,
  onClick,
  children,
}: {
  label: string;
  disabled: boolean;
  onClick: () => void;
  children: ReactNode;
}) {
  return (
    <ActionIcon
      variant="default"
      size={30}
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onClick}
    >
      {children}
    </ActionIcon>
  );
}
