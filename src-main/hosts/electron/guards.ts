import { app, dialog, session, shell, type WebContents } from 'electron';
import type { Words } from './words.ts';

/** The only permission of a page: writing to the clipboard when the user copies. */
const PERMITTED = 'clipboard-sanitized-write';

/**
 * Restricts the window to Kvasir, recognised by `isOurs`: no navigation, no second page, no web view, no permission.
 */
export function guardContents(words: () => Words, isOurs: (address: string) => boolean): void {
  app.on('web-contents-created', (_, contents) => {
    const stay = (event: { preventDefault(): void; url: string }): void => {
      if (!isOurs(event.url)) event.preventDefault();
    };
    contents.on('will-navigate', stay);
    contents.on('will-redirect', stay);
    contents.on('will-frame-navigate', stay);
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(({ url }) => {
      void offerInBrowser(url, words());
      return { action: 'deny' };
    });
  });
}

/** Call it once the app is ready: there is no session before. */
export function denyPermissions(isOurs: (address: string) => boolean): void {
  const { defaultSession } = session;
  const isPermitted = (contents: WebContents | null, permission: string): boolean =>
    permission === PERMITTED && contents !== null && isOurs(contents.getURL());
  defaultSession.setPermissionRequestHandler((contents, permission, answer) =>
    answer(isPermitted(contents, permission)),
  );
  defaultSession.setPermissionCheckHandler((contents, permission) => isPermitted(contents, permission));
  defaultSession.setDevicePermissionHandler(() => false);
}

/**
 * A link to the web, in a document or in a model's text, can leak data in its URL: it is opened only after the user has
 * seen the URL.
 */
async function offerInBrowser(address: string, words: Words): Promise<void> {
  const url = URL.parse(address);
  if (url?.protocol !== 'https:') return;
  const { response } = await dialog.showMessageBox({
    type: 'question',
    message: words.openLink,
    detail: url.href,
    buttons: [words.open, words.cancel],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  });
  if (response === 0) await shell.openExternal(url.href);
}
