import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './ui/tokens.css';
import './ui/print.css';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/App.tsx';
import { refuseStrayDrops } from './app/stray-drops.ts';
import { connect } from './client/connect.ts';
import { startI18n } from './i18n/i18n.ts';
import { styleNonce } from './ui/theme.ts';

const root = document.getElementById('root');
if (!root) throw new Error('index.html has no #root');

// The scroll lock of dialogs creates its own style element, which needs the nonce.
setNonce(styleNonce());
refuseStrayDrops();
await startI18n();
const client = connect();
createRoot(root).render(
  <StrictMode>
    <App client={client} />
  </StrictMode>,
);
