import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { IconPhotoOff } from '@tabler/icons-react';
import type { Range } from '../../../../../src-shared/contract/common.ts';
import type { DocumentInfo } from '../../../../../src-shared/contract/libraries.ts';
import { EmptyState } from '../../../../ui/EmptyState.tsx';
import { fileUrl } from './document-url.ts';
import { placeOf } from './mark-lines.ts';
import { useRecognisedLines } from './useRecognisedLines.ts';
import classes from './Original.module.css';

/** A picture, fitted to the window; a click shows it in its own size, and again fitted. */
export function ImageView({ document, passage }: { document: DocumentInfo; passage: Range | undefined }) {
  const { t } = useTranslation('library');
  const [isFitted, setIsFitted] = useState(true);
  const [isBroken, setIsBroken] = useState(false);
  const lines = useRecognisedLines(document, passage)?.[0]?.lines ?? [];
  if (isBroken) return <EmptyState icon={<IconPhotoOff size={30} />} title={t('original.noPicture')} />;
  return (
    <div className={classes.image} data-fitted={isFitted || undefined}>
      <button
        type="button"
        aria-pressed={!isFitted}
        aria-label={t('original.actualSize')}
        onClick={() => setIsFitted(!isFitted)}
      >
        <img src={fileUrl(document.id)} alt={document.title} onError={() => setIsBroken(true)} />
        {lines.map((line) => (
          <mark key={line.join(' ')} style={placeOf(line)} />
        ))}
      </button>
    </div>
  );
}
