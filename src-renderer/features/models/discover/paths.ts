/** Routes of hub content in the window. */
export const DISCOVER = '/models/discover';

export function pathOf(repository: string): string {
  return `${DISCOVER}/${repository}`;
}
