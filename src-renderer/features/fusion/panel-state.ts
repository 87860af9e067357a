import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { ScaleKind } from './scale.ts';

/** Layout preferences of the panel; shared by all answers, persisted. */
interface PanelState {
  folded: Readonly<Record<string, boolean>>;
  /** Sections shown as a table. */
  tables: Readonly<Record<string, boolean>>;
  scale: ScaleKind;
}

export const usePanelState = create<PanelState>()(
  persist((): PanelState => ({ folded: {}, tables: {}, scale: 'linear' }), { name: 'kvasir-fusion-panel' }),
);

export function toggleFolded(section: string): void {
  usePanelState.setState(({ folded }) => ({ folded: { ...folded, [section]: folded[section] !== true } }));
}

export function toggleTable(section: string): void {
  usePanelState.setState(({ tables }) => ({ tables: { ...tables, [section]: tables[section] !== true } }));
}

/** Opens a section and shows its picture. */
export function showPicture(section: string): void {
  usePanelState.setState(({ folded, tables }) => ({
    folded: { ...folded, [section]: false },
    tables: { ...tables, [section]: false },
  }));
}

export function setScale(scale: ScaleKind): void {
  usePanelState.setState({ scale });
}
