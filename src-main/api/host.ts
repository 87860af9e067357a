import type { InputOf } from '../../src-shared/contract/contract.ts';

export type PathKind = InputOf<'app.choosePaths'>['kind'];

/** What only the host that shows the window can do; handlers for `app.*` get one. */
export interface HostServices {
  readonly kind: 'electron' | 'server';
  /** Whether it can look for newer versions. */
  readonly updates?: boolean;
  /** Opens the system's file dialog; empty when the user cancels. Absent: this host has no dialogs. */
  choosePaths?(kind: PathKind): Promise<string[]>;
  /** Shows a file or a folder in the system's file manager. Absent: nothing happens. */
  reveal?(path: string): void;
  /** Ends Kvasir and starts it again. Absent: the host cannot. */
  restart?(): void;
}
