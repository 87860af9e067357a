/** Key names for display. The listeners are in useChatKeys.ts and next to the components they act on. */
const mac = typeof navigator !== 'undefined' && navigator.platform.startsWith('Mac');
const ctrl = mac ? '⌘' : 'Ctrl ';
const shift = mac ? '⇧' : 'Shift ';

export const KEYS = {
  palette: `${ctrl}K`,
  new: `${ctrl}${shift}O`,
  focus: '/',
  search: `${ctrl}${shift}F`,
  sidebar: `${ctrl}B`,
  report: `${ctrl}.`,
  print: `${ctrl}P`,
  stop: 'Esc',
  editLast: '↑',
  rename: 'F2',
  help: '?',
} as const;
