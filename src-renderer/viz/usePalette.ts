import './ramp.css';
import { useSyncExternalStore } from 'react';
import { readPalette, type Palette } from './palette.ts';

let scheme: string | undefined;
let palette: Palette | undefined;

/** The colours of the current scheme; updates when it changes. */
export function usePalette(): Palette {
  return useSyncExternalStore(subscribe, current);
}

function subscribe(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
  return () => observer.disconnect();
}

function current(): Palette {
  const shown = document.documentElement.dataset.mantineColorScheme;
  if (!palette || shown !== scheme) palette = readPalette();
  scheme = shown;
  return palette;
}
