import { useVirtualizer } from '@tanstack/react-virtual';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import type { OutputOf } from '../../../../src-shared/contract/contract.ts';
import { Subtext } from '../../../ui/Subtext.tsx';
import { useFormat } from '../../../ui/useFormat.ts';
import classes from './Document.module.css';

/** The text with its chunks in two alternating shades. */
export function CutPreview({ preview, stale }: { preview: OutputOf<'chunking.preview'>; stale: boolean }) {
  const { t } = useTranslation(['library', 'common']);
  const format = useFormat();
  const scroller = useRef<HTMLDivElement>(null);
  const { text, chunks } = preview;
  const virtualizer = useVirtualizer({
    count: chunks.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (chunks[index] ? (chunks[index].end - chunks[index].start) / 3.2 + 30 : 300),
    overscan: 3,
  });
  return (
    <div
      ref={scroller}
      className={classes.cuts}
      role="region"
      tabIndex={0}
      aria-label={t('sizes.preview')}
      aria-busy={stale}
    >
      <div className={classes.sheet} style={{ height: virtualizer.getTotalSize() }}>
        {virtualizer.getVirtualItems().map(({ index, start }) => {
          const chunk = chunks[index];
          if (!chunk) return null;
          return (
            <div
              key={index}
              data-index={index}
              ref={virtualizer.measureElement}
              className={classes.cut}
              data-odd={index % 2 === 1 || undefined}
              style={{ transform: `translateY(${start}px)` }}
            >
              <Subtext className={classes.cutHead}>
                {format.number(index + 1)} · {t('common:unit.tokens', { count: chunk.tokens })}
                {chunk.headings.length > 0 && ` · ${chunk.headings.join(' › ')}`}
              </Subtext>
              {text.slice(chunk.start, chunk.end).trim()}
            </div>
          );
        })}
      </div>
    </div>
  );
}
