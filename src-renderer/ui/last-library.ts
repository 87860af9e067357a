/** The library shown last, so that returning to the screen shows it again. */
const KEY = 'kvasir.library';

export function rememberedLibrary(): string | undefined {
  return sessionStorage.getItem(KEY) ?? undefined;
}

export function rememberLibrary(id: string | undefined): void {
  if (id !== undefined) sessionStorage.setItem(KEY, id);
}
