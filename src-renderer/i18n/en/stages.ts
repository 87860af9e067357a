/** What happens up to the first token: the same names under an answer, in its report and in comparisons. */
export const stages = {
  retrieve: { name: 'Search', help: 'Finding the passages that match the question.' },
  assemble: { name: 'Prompt', help: 'Putting instructions, passages and question together as tokens.' },
  acquire: {
    name: 'Look-up',
    help: 'Asking the store which passages have a cache, and opening their files.',
  },
  load: { name: 'Loading', help: 'Waiting for bytes of the cache that computing could not hide.' },
  place: { name: 'Placing', help: 'Turning the stored keys to the positions where the passages stand now.' },
  check: {
    name: 'Checking',
    help: 'The first layers for the whole context, comparing fresh values with stored ones, and choosing what to recompute.',
  },
  recompute: {
    name: 'Computing',
    help: 'The remaining layers, for the chosen tokens and for everything no cache had.',
  },
  firstToken: { name: 'First token', help: 'Choosing the first token from the model’s scores.' },
  other: { name: 'Other', help: 'Making room in memory, and waiting for the model’s thread.' },
};
