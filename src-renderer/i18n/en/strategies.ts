/** Ways to come to an answer: the same names in options, under an answer, in reports and in measurements. */
export const strategies = {
  auto: {
    name: 'Automatic',
    help: 'The fastest way on this machine that was measured to keep this model’s quality.',
  },
  deviation: {
    name: 'Blend by deviation',
    help: 'Reuses cached text and recomputes the tokens whose values deviate most (CacheBlend).',
  },
  none: { name: 'Reuse everything', help: 'The fastest, but no passage is read in the light of another.' },
  full: { name: 'Full prefill', help: 'Computes everything from scratch: the slowest, and the reference.' },
  query: {
    name: 'Blend by question',
    help: 'Reuses cached text and recomputes what the question pays attention to; the rest is corrected by what that changed.',
  },
  /** Behind a name, where tokens are chosen at other layers than usual. */
  /** Between the layers. */
  separator: ', ',
  checked_one: '{{strategy}}, checked at layer {{layers}}',
  checked_other: '{{strategy}}, checked at layers {{layers}}',
  asked_one: '{{strategy}}, question at layer {{layers}}',
  asked_other: '{{strategy}}, question at layers {{layers}}',
};
