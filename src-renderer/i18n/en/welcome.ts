export const welcome = {
  title: 'Ask your documents. Get the first word sooner.',
  intro:
    'Kvasir reads each document once. After that, answers start sooner. Documents are read and searched on this machine.',
  steps: {
    label: 'What is ready',
    library: 'Sample library',
    libraryReady_one: '{{count}} document, ready for questions',
    libraryReady_other: '{{count}} documents, ready for questions',
    libraryEmpty: 'Setting up…',
    model: 'Demo model',
    modelReady: 'Loaded and ready',
    modelIdle: 'Loads with the first question',
    modelLoading: 'Loading…',
    modelOther: '{{name}} is in use',
    modelNone: 'No model yet',
    cache: 'Precomputed',
    cacheDone: 'Everything is precomputed',
    cacheProgress: '{{share}} done',
    cacheLeft: '{{share}}, about {{time}} left',
    cachePaused: 'Paused at {{share}}',
  },
  try: 'Ask one of these',
  see: 'The line under the answer shows how much sooner it started, and its sources. You can ask before everything has been read.',
  own: 'Then use your own',
  addDocuments: 'Add your documents',
  addDocumentsText:
    'PDF, Word, slides, sheets, web pages, notes, code. The files stay on this machine; a model on a server gets only your questions and the passages found.',
  importModel: 'Import a model',
  importModelText:
    'The demo model was made for the sample library and writes nonsense about anything else. For your own documents, import a model (a GGUF file).',
  slimTitle: 'What would you like to know?',
  slimText_one: '{{count, number}} document is ready for questions.',
  slimText_other: '{{count, number}} documents are ready for questions.',
  slimNone: 'No document is ready yet. The Library shows their progress and which ones failed.',
  slimEmpty: 'No documents yet. Add some, then ask about them.',
  demoWithOwn:
    'The demo model knows only the sample library. Import a model before you ask about your own documents.',
  next: {
    title: 'That was the sample library. Now try your own documents.',
    text: 'Add your documents, and import a general-purpose model: the demo model knows only the sample library.',
    dismiss: 'Not now',
  },
};
