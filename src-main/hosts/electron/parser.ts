/** The parser's process under Electron. */
import { listenToPort, sendByPort } from './port.ts';

process.argv[2] = process.argv.at(-1) ?? '';
sendByPort();
await import('../../library/parser/worker.ts');
listenToPort();
