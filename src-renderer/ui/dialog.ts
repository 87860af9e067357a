import { modals } from '@mantine/modals';
import type { ReactNode } from 'react';

/** Opens a dialog; `content` gets the function that closes it. */
export function openDialog(title: string, content: (close: () => void) => ReactNode, size = 'md'): void {
  const id = modals.open({ title, size, children: content(() => modals.close(id)) });
}
