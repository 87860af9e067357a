import type { InputOf } from '../../src-shared/contract/contract.ts';

export type PathKind = InputOf<'app.choosePaths'>['kind'];

/** Functions that depend on the host that shows the window; handlers for `app.*` use one. */
export interface HostServices {
  readonly kind: 'electron' | 'server';
  /** Whether this host can check for updates. */
  readonly updates?: boolean;
  /** Opens the system's file dialog; empty if the user cancels. Absent: this host has no dialogs. */
  choosePaths?(kind: PathKind): Promise<string[]>;
  /** Shows a file or a folder in the system's file manager. Absent: nothing happens. */
  reveal?(path: string): void;
  /** Restarts Kvasir. Absent: the host cannot. */
  restart?(): void;
}
