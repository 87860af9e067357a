/** The process in which model files are tried, under Electron. */
import { listenToPort, sendByPort } from './port.ts';

sendByPort();
await import('../../models/trial/worker.ts');
listenToPort();
