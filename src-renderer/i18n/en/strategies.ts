/** Answering strategies, named alike in options, below an answer, in reports and in measurements. */
export const strategies = {
  auto: {
    name: 'Automatic',
    help: 'The fastest strategy on this machine that was measured to preserve this model’s quality.',
  },
  deviation: {
    name: 'Blend by deviation',
    help: 'Reuses cached text and recomputes the tokens whose values deviate most (CacheBlend).',
  },
  none: { name: 'Reuse everything', help: 'The fastest, but passages do not take each other into account.' },
  full: { name: 'Full prefill', help: 'Computes everything from scratch: the slowest, and the reference.' },
  query: {
    name: 'Blend by question',
    help: 'Reuses cached text, recomputes the tokens that the question attends to most, and corrects the rest by the resulting change.',
  },
  /** Separator of the layer numbers in {{layers}} below, which is shown if they differ from the default. */
  separator: ', ',
  checked_one: '{{strategy}}, checked at layer {{layers}}',
  checked_other: '{{strategy}}, checked at layers {{layers}}',
  asked_one: '{{strategy}}, question at layer {{layers}}',
  asked_other: '{{strategy}}, question at layers {{layers}}',
};
