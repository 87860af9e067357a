import { useEffect, useRef } from 'react';
import { create } from 'zustand';

/** A command of the palette. */
export interface Command {
  id: string;
  label: string;
  /** Key combination for display, e.g. "Ctrl K"; the feature registers it itself (useHotkeys). */
  keys?: string | undefined;
  run: () => void;
}

interface CommandState {
  /** Keyed by the component that offers them. */
  commands: ReadonlyMap<symbol, readonly Command[]>;
  set: (owner: symbol, commands: readonly Command[]) => void;
  remove: (owner: symbol) => void;
}

export const useCommandStore = create<CommandState>((set) => ({
  commands: new Map(),
  set: (owner, commands) => set((state) => ({ commands: new Map(state.commands).set(owner, commands) })),
  remove: (owner) =>
    set((state) => {
      const rest = new Map(state.commands);
      rest.delete(owner);
      return { commands: rest };
    }),
}));

/** Offers commands in the palette while the component is mounted. Changes are detected by ids and labels. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands);
  useEffect(() => {
    latest.current = commands;
  });
  const signature = commands.map(({ id, label }) => `${id}\0${label}`).join('\n');
  useEffect(() => {
    const owner = Symbol('commands');
    const run = (id: string) => latest.current.find((command) => command.id === id)?.run();
    const { set, remove } = useCommandStore.getState();
    set(
      owner,
      latest.current.map((command) => ({ ...command, run: () => run(command.id) })),
    );
    return () => remove(owner);
  }, [signature]);
}
