import { create } from 'zustand';
import { persist } from 'zustand/middleware';
import type { ScaleKind } from './scale.ts';

/** How people like their panel; the same for every answer, kept between starts. */
interface PanelState {
  folded: Readonly<Record<string, boolean>>;
  scale: ScaleKind;
}

export const usePanelState = create<PanelState>()(
  persist((): PanelState => ({ folded: {}, scale: 'linear' }), { name: 'kvasir-fusion-panel' }),
);

export function toggleFolded(section: string): void {
  usePanelState.setState(({ folded }) => ({ folded: { ...folded, [section]: folded[section] !== true } }));
}

export function setScale(scale: ScaleKind): void {
  usePanelState.setState({ scale });
}
