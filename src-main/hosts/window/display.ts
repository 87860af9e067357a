type Environment = Readonly<Record<string, string | undefined>>;

/** Whether windows opened by this process can be seen by whoever started it. */
export function hasDisplay(
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): boolean {
  const linux = platform !== 'darwin' && platform !== 'win32';
  if (linux) return [env['DISPLAY'], env['WAYLAND_DISPLAY']].some(Boolean);
  return env['SSH_CONNECTION'] === undefined;
}
