import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { ScaleKind } from './scale.ts';

/** How people like their panel; the same for every answer, kept between starts. */
interface PanelState {
  folded: Readonly<Record<string, boolean>>;
  /** Sections that show their picture's numbers instead. */
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

/** Opens a section with its picture. */
export function showPicture(section: string): void {
  usePanelState.setState(({ folded, tables }) => ({
    folded: { ...folded, [section]: false },
    tables: { ...tables, [section]: false },
  }));
}

export function setScale(scale: ScaleKind): void {
  usePanelState.setState({ scale });
}
