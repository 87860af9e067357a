export const settings = {
  title: 'Settings',
  subtitle: 'Changes are saved automatically.',
  sections: {
    label: 'Sections',
    appearance: 'Appearance',
    answers: 'Answers',
    documents: 'Documents',
    engine: 'Engine',
    sharing: 'Shared cache',
    data: 'Data',
    about: 'About',
  },
  appearance: {
    theme: 'Theme',
    themes: { system: 'Match system', light: 'Light', dark: 'Dark' },
    language: 'Language',
    languages: { system: 'Match system', en: 'English', zh: '中文' },
  },
  answers: {
    strategy: 'How cached text is blended',
    strategyHelp: 'Each conversation can use a different one.',
    ratio: 'Recompute ratio',
    ratioHelp:
      'Share of the cached text to recompute, where it matters most. More is slower and closer to reading everything again.',
    watchAnswers: 'Check blended answers while the computer is idle',
    watchAnswersHelp:
      'A few answers a day are computed once more without the cache and compared. If they differ too much, more is recomputed or blending stops; the Models screen shows it. Never on battery, and never while you wait for something.',
    topK: 'Passages in a prompt',
    topKHelp: 'Six, or more where passages are short. More of them cover more, and take longer.',
    automaticTopK: 'Choose the number of passages automatically',
    strict: 'From your documents only',
    strictHelp:
      'The model is told to answer from the passages alone, and to say so when they do not contain the answer. When nothing matches a question, the model is not asked at all.',
    think: 'Let the model think before it answers',
    thinkHelp:
      'Answers can get better, and the first word comes later. Thoughts count towards the longest answer. Some models always think, others never do.',
    maxTokens: 'Longest answer (tokens)',
    contextTokens: 'Context',
    contextHelp: 'Tokens of prompt and answer together; the model’s own limit applies too.',
    systemPrompt: 'Instructions for the model',
    systemPromptHelp:
      'Put before every conversation: where the model’s template has a place for them, else into the first question.',
  },
  documents: {
    chunkTokens: 'Passage size',
    chunkTokensHelp:
      'In tokens (parts of words). After a change every document is split and read again. Try sizes on a document’s page first.',
    automatic: 'Automatic size ({{count}})',
    automaticPlain: 'Automatic size',
    maxFile: 'Largest file (MB)',
    maxFileHelp: 'Larger files are not read; they are listed as failed.',
    storeMisses: 'Store passages computed for an answer',
    storeMissesHelp: 'Passages that were not in the cache yet are stored after the answer.',
  },
  engine: {
    device: 'Device',
    deviceAuto: 'Automatic: the fastest that passed its test',
    deviceHelp:
      'The model is loaded again on the device that you choose. What does not fit on a GPU stays on the CPU. Choosing a GPU that is off tests it again.',
    threads: 'CPU threads',
    threadsHelp:
      '0 means automatic: as many as other programs leave cores free. Takes effect the next time the model is loaded.',
    dtype: 'Precision of the cache',
    dtypeHelp:
      'Compact takes about half the space and is nearly as exact. What is stored in the other precision stays until its space is needed; passages are read again in the new one when a question needs them.',
    conversationDtype: 'Precision of conversations in memory',
    conversationDtypeHelp:
      'Compact keeps about twice as much of your conversations in the same memory; answers differ very little. Changing it reloads the model.',
    exact: 'Exact (f16)',
    compact: 'Compact (q8_0)',
    catalogue: 'List of models to download',
    catalogueHelp: 'A file, or the address of one; its models are then offered on the Models screen.',
    hub: 'Address of the hub',
    hubHelp:
      'Where models are searched under Models → Discover, and nowhere else: the public hub, a mirror, or your company’s own. Empty brings back the public one.',
    devices: 'Devices on this machine',
    memory: '{{free}} of {{total}} free',
    speed: '{{here}} tokens of a prompt per second in a short test with the demo model; the CPU {{cpu}}',
    state: { good: 'Works', off: 'Off', untested: 'Not tested yet' },
    testAgain: 'Test again',
    pack: {
      name: '{{title}} pack',
      help: {
        vulkan:
          'With it Kvasir can compute on most GPUs. It is downloaded, verified and tested before it is used.',
        cuda: 'For NVIDIA’s GPUs. It is downloaded, verified and tested before it is used.',
      },
      needs: 'It needs {{libraries, list}} on this machine.',
      noDriver: 'Its driver was not found here: install the graphics driver first.',
      get: 'Get the {{title}} pack ({{size}})',
      fetching: 'Downloading: {{done}} of {{total}}',
      unpacking: 'Verified; unpacking',
    },
    automatic: {
      'no-gpu': 'Automatic uses the CPU: no GPU was found, or its pack is not installed.',
      untested:
        'Automatic uses the CPU until the GPU is tested. That happens by itself while nobody waits for an answer.',
      'none-works': 'Automatic uses the CPU, because no GPU passed its test.',
      'cpu-faster': 'Automatic uses the CPU, because no GPU was faster in the test.',
      fastest: 'Automatic uses {{device}}, because it was the fastest in the test.',
    },
  },
  data: {
    folder: 'Data folder',
    reveal: 'Show in the file manager',
    backup: 'Backup',
    backupHelp:
      'Uploaded documents, the catalogue, conversations and settings, in one file. The cache is left out, because Kvasir can recompute it.',
    backupNow: 'Back up now',
    backingUp: 'Backing up: {{share}}. You can go on working.',
    backupDone: 'Backed up to {{path}} ({{size}}).',
    none: 'There is no backup yet.',
    restore: 'Restore',
    restoreFile: 'Restore from a file…',
    restoreTitle: 'Restore this backup?',
    restoreText:
      'At the next start, Kvasir replaces your documents, conversations, settings and list of models with those in {{path}}. It backs up the current ones first. Model files on this machine stay; one added since that backup has to be added to the list again.',
    restoreReady: 'The backup is checked and ready',
    restoreNext:
      'Restart Kvasir to put it in place. Documents, conversations, settings and the list of models go back to what the backup holds; changes you make until then are lost.',
    restoreNextByHand:
      'Stop Kvasir where you started it, and start it again. Documents, conversations, settings and the list of models then go back to what the backup holds; changes you make until then are lost.',
    restartNow: 'Restart now',
    diskFree: '{{size}} free on this disk',
  },
  about: {
    version: 'Kvasir {{version}}',
    engine: 'Engine {{addon}}, ggml {{ggml}}',
    host: { electron: 'Desktop app', server: 'In the browser; the core runs on {{platform}}' },
    updates: 'Look for newer versions',
    updatesHelp:
      'Once a day, at the address this package was made with. A newer one is fetched, verified, and installed when you quit.',
    offline:
      'Everything runs on this machine: no telemetry, no accounts. Kvasir asks others only where you do: for a model that you look for or download, a pack for your GPU, or a newer version.',
  },
  range: 'From {{min}} to {{max}}',
};
