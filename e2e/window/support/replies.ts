import type { Page } from '@playwright/test';

interface Call {
  id: number;
  name: string;
  input: unknown;
}

/** Changes the core's replies to one procedure, for a window that is not open yet; returns the window's calls. */
export async function changingReplies<T>(
  window: Page,
  procedure: string,
  change: (data: T) => T,
): Promise<Call[]> {
  const calls: Call[] = [];
  await window.routeWebSocket(/\/socket$/, (page) => {
    const core = page.connectToServer();
    const asked = new Set<number>();
    page.onMessage((text) => {
      const call = JSON.parse(String(text)) as Call;
      calls.push(call);
      if (call.name === procedure) asked.add(call.id);
      core.send(text);
    });
    core.onMessage((text) => {
      const reply = JSON.parse(String(text)) as { id?: number; data?: T };
      const mine = reply.id !== undefined && reply.data !== undefined && asked.has(reply.id);
      page.send(mine ? JSON.stringify({ ...reply, data: change(reply.data as T) }) : text);
    });
  });
  return calls;
}
