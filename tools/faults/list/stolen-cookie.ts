import { RunningApp } from '../running-app.ts';
import type { Fault } from '../fault.ts';

/** Another program on this machine sends the session's cookie with a forged origin. */
export const stolenCookie: Fault = {
  name: 'stolen cookie',
  covers: 'a cookie read by another port on this machine grants no access',
  async run({ data }) {
    const app = await RunningApp.start(data);
    const headers = { Cookie: app.cookie, Origin: app.origin };
    for (const path of ['/', '/index.html', '/k/', '/k/guess/', '/download?backup=x']) {
      const { status } = await fetch(new URL(path, app.origin), { headers, redirect: 'manual' });
      if (status !== 401) throw new Error(`${path} answered ${status}`);
    }
    const upload = await fetch(new URL('/upload?backup=x', app.origin), {
      method: 'PUT',
      headers,
      body: 'x',
    });
    if (upload.status !== 401) throw new Error(`an upload was answered with ${upload.status}`);
  },
};
