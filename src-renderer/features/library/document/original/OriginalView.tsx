import { Loader } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import type { Range } from '../../../../../src-shared/contract/common.ts';
import type { DocumentInfo } from '../../../../../src-shared/contract/libraries.ts';
import { viewerOf } from '../../../../../src-shared/viewing.ts';
import { FrameView } from './FrameView.tsx';
import { ImageView } from './ImageView.tsx';

const PdfView = lazy(() => import('./PdfView.tsx'));

/** A document as it looks, at the passage. */
export function OriginalView({ document, passage }: { document: DocumentInfo; passage: Range | undefined }) {
  const { t } = useTranslation('common');
  switch (viewerOf(document.format)) {
    case 'pdf':
      return (
        <Suspense fallback={<Loader m="auto" role="status" aria-label={t('loading')} />}>
          <PdfView document={document} passage={passage} />
        </Suspense>
      );
    case 'image':
      return <ImageView document={document} passage={passage} />;
    case 'page':
      return <FrameView document={document} passage={passage} />;
    case undefined:
      return null;
  }
}
