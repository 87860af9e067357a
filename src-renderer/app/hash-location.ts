import { useSyncExternalStore } from 'react';
import type { BaseLocationHook, BaseSearchHook } from 'wouter';

/**
 * The route is the part after "#", including its query: "#/document/7?start=120". wouter's hash hook puts the query
 * before the "#", where it would outlive its screen and reach the host with every reload.
 */
export const useHashLocation = Object.assign(
  (() => [useSyncExternalStore(subscribe, () => parts().path), navigate]) satisfies BaseLocationHook,
  {
    hrefs: (href: string) => `#${href}`,
    searchHook: (() => useSyncExternalStore(subscribe, () => parts().query)) satisfies BaseSearchHook,
  },
);

function parts(): { path: string; query: string } {
  const [path = '', query = ''] = location.hash.replace(/^#?\/?/, '/').split('?');
  return { path, query };
}

function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  const address = new URL(location.href);
  address.hash = to.replace(/^#?\/?/, '/');
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

/** `hashchange` also fires for "back" if the hash differs. */
function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}
