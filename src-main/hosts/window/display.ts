type Environment = Readonly<Record<string, string | undefined>>;

/** Whether windows opened by this process are visible to the user. */
export function hasDisplay(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const linux = platform !== 'darwin' && platform !== 'win32';
  if (linux) return [env['DISPLAY'], env['WAYLAND_DISPLAY']].some(Boolean);
  return env['SSH_CONNECTION'] === undefined;
}
