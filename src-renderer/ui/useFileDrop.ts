import { useState, type DragEvent } from 'react';
import { dropEntries, type DropEntries } from './dropped-files.ts';

/** Makes an element accept files and folders; `over`: files are being dragged over it. */
export function useFileDrop(onDrop: (dropped: DropEntries) => void) {
  // Enter and leave fire for every child, enter of the next one before leave of the last.
  const [depth, setDepth] = useState(0);
  const withFiles = (handle: (event: DragEvent) => void) => (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    handle(event);
  };
  return {
    over: depth > 0,
    handlers: {
      onDragEnter: withFiles(() => setDepth((now) => now + 1)),
      onDragLeave: withFiles(() => setDepth((now) => Math.max(0, now - 1))),
      onDragOver: withFiles((event) => {
        event.dataTransfer.dropEffect = 'copy';
      }),
      onDrop: withFiles((event) => {
        setDepth(0);
        onDrop(dropEntries(event.dataTransfer));
      }),
    },
  };
}
