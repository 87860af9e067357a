import { highlight } from './highlight.ts';
import type { HighlightResult, HighlightRequest } from './highlight-queue.ts';

// Compiling a grammar takes hundreds of milliseconds, too long for the UI thread while an answer is written.
self.onmessage = ({ data: { id, code, language } }: MessageEvent<HighlightRequest>) => {
  const reply = (result: HighlightResult): void => self.postMessage(result);
  highlight(code, language).then(
    (lines) => reply({ id, lines }),
    (error: unknown) => reply({ id, error: String(error) }),
  );
};
