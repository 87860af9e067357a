export const settings = {
  title: 'Settings',
  subtitle: 'Changes are saved automatically.',
  sections: {
    label: 'Sections',
    appearance: 'Appearance',
    answers: 'Answers',
    documents: 'Documents',
    tools: 'Tools',
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
    contextTokens: 'Context',
    strategy: 'Blending strategy',
    strategyHelp: 'Each conversation can use a different one.',
    ratio: 'Recompute ratio',
    ratioHelp:
      'Share of the cached text to recompute, where it matters most. Higher values are slower but closer to a full prefill.',
    watchAnswers: 'Check blended answers while the computer is idle',
    watchAnswersHelp:
      'Kvasir recomputes a few answers a day without the cache and compares them. If they differ too much, it recomputes more or turns blending off; the Models screen shows the result. This never runs on battery or while you are waiting for something.',
    topK: 'Passages per prompt',
    topKHelp: 'Six by default, or more if passages are short. More passages cover more but take longer.',
    automaticTopK: 'Choose the number of passages automatically',
    strict: 'From your documents only',
    strictHelp:
      'Instructs the model to answer only from the passages, and to say so if they do not contain the answer. If no passage matches a question, Kvasir does not ask the model at all.',
    think: 'Let the model think before it answers',
    thinkHelp:
      'Answers can improve, but the first word comes later. Thoughts count towards the maximum answer length. Some models always think, others never do.',
    maxTokens: 'Maximum answer length (tokens)',
    contextHelp: 'Tokens of prompt and answer together. The model’s own limit also applies.',
    systemPrompt: 'Instructions for the model',
    systemPromptHelp:
      'Added at the start of every conversation: in the model template’s place for instructions or, if it has none, in the first question.',
  },
  documents: {
    chunkTokens: 'Passage size',
    chunkTokensHelp:
      'In tokens (parts of words). After a change, Kvasir splits and reads every document again. Try sizes on a document’s page first.',
    automaticPlain: 'Automatic size',
    maxFile: 'Largest file (MB)',
    maxFileHelp: 'Larger files are not read and are listed as failed.',
    recognise: 'Recognise text in pictures',
    recogniseHelp:
      'Scans, photos and PDF pages without text are read on this computer, in English, German and Chinese, while nothing else is computed.',
    storeMisses: 'Store passages computed for an answer',
    storeMissesHelp: 'Passages that were not cached yet are stored after the answer.',
  },
  engine: {
    device: 'Device',
    deviceAuto: 'Automatic: the fastest that passed its test',
    deviceHelp:
      'Reloads the model on the device you choose. Parts that do not fit on a GPU stay on the CPU. Choosing a GPU that is off tests it again.',
    threads: 'CPU threads',
    threadsHelp:
      '0 means automatic: one thread for each core that other programs leave free. Takes effect the next time the model is loaded.',
    dtype: 'Precision of the cache',
    dtypeHelp:
      'Compact takes about half the space and is nearly as exact. The 4-bit formats are offered on the Cache screen for models that keep their quality with them. Caches in the other precision are kept until their space is needed; passages are converted from f16, or recomputed when a question needs them.',
    conversationDtype: 'Precision of conversations in memory',
    conversationDtypeHelp:
      'Compact keeps about twice as much of your conversations in the same memory; answers differ very little. Changing it reloads the model.',
    exact: 'Exact (f16)',
    compact: 'Compact (q8_0)',
    catalogue: 'List of models to download',
    catalogueHelp: 'Path or URL of a list. Its models appear on the Models screen.',
    hub: 'Hub address',
    hubHelp:
      'Models → Discover searches for models only here: the public hub, a mirror, or your company’s own hub. Leave it empty to use the public hub.',
    devices: 'Devices on this machine',
    memory: '{{free}} of {{total}} free',
    speed: '{{here}} prompt tokens per second in a short test with the demo model; the CPU {{cpu}}',
    state: { good: 'Works', off: 'Off', untested: 'Not tested yet' },
    testAgain: 'Test again',
    pack: {
      name: '{{title}} pack',
      help: {
        vulkan: 'Lets Kvasir compute on most GPUs. Kvasir downloads, verifies and tests it before use.',
        cuda: 'For NVIDIA GPUs. Kvasir downloads, verifies and tests it before use.',
      },
      needs: 'Requires {{libraries, list}} on this machine.',
      noDriver: 'Driver not found. Install the graphics driver first.',
      get: 'Get the {{title}} pack ({{size}})',
      fetching: 'Downloading: {{done}} of {{total}}',
      unpacking: 'Verified; unpacking',
    },
    automatic: {
      'no-gpu': 'Automatic uses the CPU: no GPU was found, or its pack is not installed.',
      untested:
        'Automatic uses the CPU until the GPU is tested. The test runs automatically while nobody is waiting for an answer.',
      'none-works': 'Automatic uses the CPU, because no GPU passed its test.',
      'cpu-faster': 'Automatic uses the CPU, because no GPU was faster in the test.',
      fastest: 'Automatic uses {{device}}, because it was the fastest in the test.',
    },
  },
  data: {
    folder: 'Data folder',
    reveal: 'Show in file manager',
    backup: 'Backup',
    backupHelp:
      'Uploaded documents, the catalogue, conversations and settings, in one file. The cache is left out, because Kvasir can recompute it. Documents and conversations that you delete later stay in older backups until you delete the backup files.',
    backupNow: 'Back up now',
    backingUp: 'Backing up: {{share}}. You can keep working.',
    backupDone: 'Backed up to {{path}} ({{size}}).',
    none: 'No backups yet.',
    restore: 'Restore',
    restoreFile: 'Restore from a file…',
    restoreTitle: 'Restore this backup?',
    restoreText:
      'At the next start, Kvasir replaces your documents, conversations, settings and list of models with those in {{path}}. It backs up the current ones first. Model files on this machine stay in place, but you must add models that are newer than the backup to the list again.',
    restoreReady: 'The backup is checked and ready',
    restoreNext:
      'Restart Kvasir to apply it. Documents, conversations, settings and the list of models are restored to the state of the backup. Changes you make until then are lost.',
    restoreNextByHand:
      'Stop Kvasir where you started it, then start it again. Documents, conversations, settings and the list of models are restored to the state of the backup. Changes you make until then are lost.',
    restartNow: 'Restart now',
    export: 'Export everything',
    exportHelp:
      'Writes your conversations, projects, analyses and settings as Markdown, JSON and CSV, and your documents with their text, to a new folder that other programs can read. Keys and passwords are left out. To move to another computer, use a backup.',
    exportFolder: 'Folder for the export',
    exportFolderHelp:
      'Full path on the computer that runs Kvasir. A path that ends in .zip is written as one file.',
    exportNow: 'Export everything…',
    exporting: 'Exporting: {{share}}. You can keep working.',
    exportDone: 'Exported to {{path}} ({{size}}). README.txt in it describes the files.',
    exportIncomplete_one:
      '{{count}} original file is missing or incomplete, {{path}}: documents.csv gives the reason.',
    exportIncomplete_other:
      '{{count}} original files are missing or incomplete, among them {{path}}: documents.csv gives the reasons.',
    diskFree: '{{size}} free on this disk',
  },
  about: {
    version: 'Kvasir {{version}}',
    engine: 'Engine {{addon}}, ggml {{ggml}}',
    host: { electron: 'Desktop app', server: 'In the browser; the core runs on {{platform}}' },
    updates: 'Check for updates',
    updatesHelp:
      'Once a day, at the update address of this package. Kvasir downloads and verifies an update, and installs it when you quit.',
    offline:
      'Everything runs on this machine: no telemetry, no accounts. Kvasir goes online only when you ask it to: to find or download a model, to get a GPU pack, or to check for updates.',
  },
  range: 'From {{min}} to {{max}}',
};
