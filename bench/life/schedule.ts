/** How often each thing is done in a whole life. */
export const WHOLE_LIFE = { question: 10_000, edit: 2000, switch: 200, deletion: 500, sleep: 50 };

export type Action = keyof typeof WHOLE_LIFE;
export const ACTIONS = Object.keys(WHOLE_LIFE) as Action[];

const TENTHS = 10;

/** The actions of each tenth, in random order: the same number of each kind, give or take one. At least one of each kind in all. */
export function schedule(scale: number, random: () => number): Action[][] {
  return Array.from({ length: TENTHS }, (_, tenth) => {
    const actions = ACTIONS.flatMap((action) => {
      const total = Math.max(1, Math.round(WHOLE_LIFE[action] * scale));
      const before = (tenths: number): number => Math.floor((total * tenths) / TENTHS);
      return Array<Action>(before(tenth + 1) - before(tenth)).fill(action);
    });
    return shuffled(actions, random);
  });
}

function shuffled<T>(all: readonly T[], random: () => number): T[] {
  return all
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
