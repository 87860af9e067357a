/** Colours of the pictures, taken from CSS so that they match the page in light and dark. */
const VARIABLES = {
  page: '--kv-page',
  surface: '--kv-surface',
  sunken: '--kv-sunken',
  line: '--kv-line',
  text: '--kv-text',
  muted: '--kv-muted',
  accent: '--kv-accent',
  highlight: '--kv-highlight',
  resident: '--kv-resident',
  device: '--kv-device',
  ram: '--kv-ram',
  disk: '--kv-disk',
  shared: '--kv-shared',
  computed: '--kv-computed',
  hkvd: '--kv-hkvd',
  load: '--kv-load',
  compute: '--kv-compute',
  place: '--kv-place',
  check: '--kv-check',
  retrieve: '--kv-retrieve',
} as const;

export type Colour = keyof typeof VARIABLES;

export interface Palette extends Readonly<Record<Colour, string>> {
  /** Font families. */
  readonly font: string;
  readonly mono: string;
  /** Perceptually even steps, faint to strong; text in `text` is readable on every step. */
  readonly ramp: readonly string[];
}

const RAMP_STEPS = 48;

export function readPalette(root: HTMLElement = document.documentElement): Palette {
  const style = getComputedStyle(root);
  const value = (name: string) => style.getPropertyValue(name).trim();
  const colours = Object.fromEntries(
    Object.entries(VARIABLES).map(([name, variable]) => [name, value(variable)]),
  ) as Record<Colour, string>;
  const stops = [0, 1, 2].map((stop) => value(`--kv-ramp-${stop}`));
  return {
    ...colours,
    font: getComputedStyle(document.body).fontFamily,
    mono: value('--kv-font-mono'),
    ramp: rampOf(stops, RAMP_STEPS),
  };
}

/** `steps` CSS colours through `stops`, mixed in Oklab, which is perceptually uniform. */
export function rampOf(stops: readonly string[], steps: number): string[] {
  return Array.from({ length: steps }, (_, step) => {
    const at = (step / Math.max(1, steps - 1)) * (stops.length - 1);
    const from = Math.min(Math.floor(at), stops.length - 2);
    const share = Math.round((at - from) * 1000) / 10;
    return `color-mix(in oklab, ${stops[from + 1] ?? ''} ${share}%, ${stops[from] ?? ''})`;
  });
}

/** The ramp's colour for a value from 0 to 1. */
export function shade(palette: Palette, value: number): string {
  const { ramp } = palette;
  const step = Math.round(Math.min(1, Math.max(0, value)) * (ramp.length - 1));
  return ramp[step] ?? 'transparent';
}

/** A more transparent colour, for areas under lines of the same colour. */
export function faded(colour: string, share: number): string {
  return `color-mix(in srgb, ${colour} ${Math.round(share * 100)}%, transparent)`;
}
