/** Stages up to the first token, named alike below an answer, in its report and in comparisons. */
export const stages = {
  wait: {
    name: 'Waiting',
    help: 'For the model to be free while other answers finish and background work stops.',
  },
  retrieve: { name: 'Search', help: 'Finding the passages that match the question.' },
  assemble: { name: 'Prompt', help: 'Combining instructions, passages and question into tokens.' },
  acquire: {
    name: 'Look-up',
    help: 'Checking which passages are cached, deciding how to use them, and opening their files.',
  },
  load: { name: 'Loading', help: 'Waiting for cached data that could not be loaded while computing.' },
  place: {
    name: 'Placing',
    help: 'Rotating the stored keys to the positions of the passages in this prompt.',
  },
  check: {
    name: 'Checking',
    help: 'Computing the first layers for the whole context, comparing fresh values with stored ones, and choosing the tokens to recompute.',
  },
  recompute: {
    name: 'Computing',
    help: 'Computing the other layers for the chosen tokens and everything that was not cached, up to the model’s scores.',
  },
  firstToken: { name: 'First token', help: 'Choosing the first token from the model’s scores.' },
  server: {
    name: 'Server',
    help: 'From the request to the server’s first token: network, queue and computation.',
  },
  other: {
    name: 'Other',
    help: 'Making room in memory, and passing the prompt to the model’s thread and back.',
  },
};
