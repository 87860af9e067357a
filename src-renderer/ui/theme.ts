import { createTheme, type CSSVariablesResolver, type MantineColorsTuple } from '@mantine/core';

/** Teal, darkened so that white on shade 7 and shade 7 on white both have a contrast of at least 4.5. */
const kvasir: MantineColorsTuple = [
  '#e6f7f4',
  '#cfeee8',
  '#a1ddd3',
  '#70ccbd',
  '#48bdab',
  '#2fb3a0',
  '#199a88',
  '#0f766e',
  '#0b5f59',
  '#064a45',
];

export const theme = createTheme({
  colors: { kvasir },
  primaryColor: 'kvasir',
  primaryShade: 7,
  autoContrast: true,
  defaultRadius: 'md',
  fontFamily:
    "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', sans-serif",
  fontFamilyMonospace: 'var(--kv-font-mono)',
  headings: { fontWeight: '600' },
  cursorType: 'pointer',
  components: {
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    Badge: { defaultProps: { variant: 'light' } },
    Highlight: { defaultProps: { size: 'md' } },
    Modal: { styles: { title: { fontWeight: 600, lineHeight: 1.4 } } },
    Notification: { styles: { description: { color: 'var(--mantine-color-text)' } } },
    Text: { defaultProps: { size: 'sm' } },
  },
});

/** Maps Mantine's surfaces to Kvasir's colours, so that both match in light and dark. */
export const cssVariables: CSSVariablesResolver = () => {
  const surfaces = {
    '--mantine-color-body': 'var(--kv-surface)',
    '--mantine-color-text': 'var(--kv-text)',
    '--mantine-color-dimmed': 'var(--kv-muted)',
    '--mantine-color-placeholder': 'var(--kv-muted)',
    '--mantine-color-default-border': 'var(--kv-line)',
  };
  return { variables: {}, light: surfaces, dark: surfaces };
};

/** The nonce that the host put into the page for Mantine's style elements; undefined if the policy needs none. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
}
