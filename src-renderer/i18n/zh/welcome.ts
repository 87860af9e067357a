import type { en, Words } from '../words.ts';

export const welcome: Words<typeof en.welcome> = {
  title: '向文档提问，更快看到第一个词。',
  intro: 'Kvasir 对每个文档只读取一次。此后，回答会更快开始。文档在本机读取和检索。',
  steps: {
    label: '已就绪的内容',
    library: '示例资料库',
    libraryReady_other: '{{count}} 篇文档，可以提问',
    libraryEmpty: '正在准备…',
    model: '演示模型',
    modelReady: '已加载，可以使用',
    modelIdle: '提出第一个问题时加载',
    modelLoading: '正在加载…',
    modelOther: '正在使用 {{name}}',
    modelNone: '还没有模型',
    cache: '预先计算',
    cacheDone: '全部已预先算好',
    cacheProgress: '已完成 {{share}}',
    cacheLeft: '已完成 {{share}}，约剩 {{time}}',
    cachePaused: '已暂停，完成 {{share}}',
    cacheLeftOut: '已完成 {{share}}，其余不在缓存中。',
  },
  try: '试着问一个问题',
  see: '回答下方的一行显示它提前了多少开始，以及来源。无需等到全部读完就可以提问。',
  own: '然后换成你自己的',
  addDocuments: '添加你的文档',
  addDocumentsText:
    'PDF、Word、幻灯片、表格、网页、笔记、代码。文件留在本机；使用服务器上的模型时，只会发送你的问题和找到的段落。',
  importModel: '导入模型',
  importModelText:
    '演示模型专为示例资料库训练，对其他内容只会胡言乱语。要用自己的文档，请导入一个模型（GGUF 文件）。',
  slimTitle: '想了解什么？',
  slimText_other: '{{count, number}} 篇文档可以提问。',
  slimNone: '还没有可以提问的文档。“资料库”页面会显示处理进度，以及哪些文档失败了。',
  slimEmpty: '还没有文档。添加一些，然后就可以提问。',
  demoWithOwn: '演示模型只了解示例资料库。在针对自己的文档提问之前，请先导入一个模型。',
  next: {
    title: '刚才用的是示例资料库。接下来试试你自己的文档。',
    text: '添加你的文档，并导入一个通用模型：演示模型只了解示例资料库。',
    dismiss: '以后再说',
  },
};
