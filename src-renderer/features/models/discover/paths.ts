/** Addresses in the window of what is on the hub. */
export const DISCOVER = '/models/discover';

export function pathOf(repository: string): string {
  return `${DISCOVER}/${repository}`;
}
