/** Texts of the desktop host: menus and dialogs. The window has separate ones. */
export interface Words {
  about: string;
  settings: string;
  services: string;
  hide: string;
  hideOthers: string;
  showAll: string;
  quit: string;
  file: string;
  newConversation: string;
  addDocuments: string;
  close: string;
  edit: string;
  undo: string;
  redo: string;
  cut: string;
  copy: string;
  paste: string;
  selectAll: string;
  view: string;
  actualSize: string;
  zoomIn: string;
  zoomOut: string;
  fullScreen: string;
  reload: string;
  developerTools: string;
  go: string;
  chat: string;
  library: string;
  search: string;
  cache: string;
  models: string;
  window: string;
  minimize: string;
  zoom: string;
  openLink: string;
  open: string;
  cancel: string;
  documents: string;
  allFiles: string;
  model: string;
  backup: string;
  cannotStart: string;
  defect: string;
  windowCrashed: string;
  showAgain: string;
}

const ENGLISH: Words = {
  about: 'About Kvasir',
  settings: 'Settings…',
  services: 'Services',
  hide: 'Hide Kvasir',
  hideOthers: 'Hide Others',
  showAll: 'Show All',
  quit: 'Quit Kvasir',
  file: 'File',
  newConversation: 'New Conversation',
  addDocuments: 'Add Documents…',
  close: 'Close Window',
  edit: 'Edit',
  undo: 'Undo',
  redo: 'Redo',
  cut: 'Cut',
  copy: 'Copy',
  paste: 'Paste',
  selectAll: 'Select All',
  view: 'View',
  actualSize: 'Actual Size',
  zoomIn: 'Zoom In',
  zoomOut: 'Zoom Out',
  fullScreen: 'Full Screen',
  reload: 'Reload',
  developerTools: 'Developer Tools',
  go: 'Go',
  chat: 'Chat',
  library: 'Library',
  search: 'Search',
  cache: 'Cache',
  models: 'Models',
  window: 'Window',
  minimize: 'Minimize',
  zoom: 'Zoom',
  openLink: 'Open this address in your browser?',
  open: 'Open',
  cancel: 'Cancel',
  documents: 'Documents',
  allFiles: 'All files',
  model: 'GGUF models',
  backup: 'Backups of Kvasir',
  cannotStart: 'Kvasir cannot start',
  defect: 'Kvasir ran into an unexpected problem',
  windowCrashed: "Kvasir's window closed unexpectedly. Your documents and conversations are safe.",
  showAgain: 'Reopen the window',
};

const CHINESE: Words = {
  about: '关于 Kvasir',
  settings: '设置…',
  services: '服务',
  hide: '隐藏 Kvasir',
  hideOthers: '隐藏其他',
  showAll: '全部显示',
  quit: '退出 Kvasir',
  file: '文件',
  newConversation: '新建对话',
  addDocuments: '添加文档…',
  close: '关闭窗口',
  edit: '编辑',
  undo: '撤销',
  redo: '重做',
  cut: '剪切',
  copy: '复制',
  paste: '粘贴',
  selectAll: '全选',
  view: '视图',
  actualSize: '实际大小',
  zoomIn: '放大',
  zoomOut: '缩小',
  fullScreen: '全屏',
  reload: '重新加载',
  developerTools: '开发者工具',
  go: '前往',
  chat: '对话',
  library: '资料库',
  search: '检索',
  cache: '缓存',
  models: '模型',
  window: '窗口',
  minimize: '最小化',
  zoom: '缩放',
  openLink: '要在浏览器中打开此地址吗？',
  open: '打开',
  cancel: '取消',
  documents: '文档',
  allFiles: '所有文件',
  model: 'GGUF 模型',
  backup: 'Kvasir 备份',
  cannotStart: 'Kvasir 无法启动',
  defect: 'Kvasir 遇到了意外问题',
  windowCrashed: 'Kvasir 的窗口意外结束。你的文档和对话都安然无恙。',
  showAgain: '重新打开窗口',
};

/** `language` as in the settings; `locale` is the system's. */
export function wordsFor(language: 'system' | 'en' | 'zh', locale: string): Words {
  const chinese = language === 'zh' || (language === 'system' && locale.toLowerCase().startsWith('zh'));
  return chinese ? CHINESE : ENGLISH;
}
