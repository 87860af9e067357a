/** What happens up to the first token: the same names under an answer, in its report and in comparisons. */
export const stages = {
  wait: {
    name: 'Waiting',
    help: 'For the model’s turn: for other answers, and for work in the background to stop.',
  },
  retrieve: { name: 'Search', help: 'Finding the passages that match the question.' },
  assemble: { name: 'Prompt', help: 'Putting instructions, passages and question together as tokens.' },
  acquire: {
    name: 'Look-up',
    help: 'Asking the store which passages have a cache, deciding how to use it, and opening its files.',
  },
  load: { name: 'Loading', help: 'Waiting for bytes of the cache that computing could not hide.' },
  place: { name: 'Placing', help: 'Turning the stored keys to the positions where the passages stand now.' },
  check: {
    name: 'Checking',
    help: 'The first layers for the whole context, comparing fresh values with stored ones, and choosing what to recompute.',
  },
  recompute: {
    name: 'Computing',
    help: 'The other layers, for the chosen tokens and for everything no cache had, up to the model’s scores.',
  },
  firstToken: { name: 'First token', help: 'Choosing the first token from the model’s scores.' },
  other: {
    name: 'Other',
    help: 'Making room in memory, and handing the prompt over to the model’s thread and back.',
  },
};
