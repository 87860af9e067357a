import { useMemo } from 'react';
import { notifyFailureAs } from '../../ui/notify.tsx';
import type { Palette } from '../../viz/palette.ts';
import { pngOf, type Plate } from '../../viz/png.ts';
import { saveFile } from '../../viz/save.ts';
import { usePalette } from '../../viz/usePalette.ts';
import type { Words } from './useWords.ts';

const PNG_WIDTH = 1000;

/** Saves files named after an answer; pictures use the current colours. */
export interface Files {
  palette: Palette;
  png: (name: string, plates: readonly Plate[]) => void;
  csv: (name: string, content: string) => void;
  json: (name: string, content: unknown) => void;
}

export function useFiles(answerId: string, { t }: Words): Files {
  const palette = usePalette();
  return useMemo(() => {
    const file = (name: string) => `kvasir-${answerId}-${name}`.replaceAll(/[^\w.-]+/g, '_');
    const text = (name: string, content: string, type: string) =>
      saveFile(file(name), new Blob([content], { type: `${type};charset=utf-8` }));
    return {
      palette,
      png: (name, plates) => {
        pngOf(plates, palette, PNG_WIDTH)
          .then((image) => saveFile(file(`${name}.png`), image))
          .catch((error: unknown) => notifyFailureAs(t('export.failed'), error));
      },
      csv: (name, content) => text(`${name}.csv`, content, 'text/csv'),
      json: (name, content) =>
        text(`${name}.json`, `${JSON.stringify(content, null, 2)}\n`, 'application/json'),
    };
  }, [answerId, palette, t]);
}
