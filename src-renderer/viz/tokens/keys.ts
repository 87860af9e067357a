import type { TokenMapData } from './draw.ts';
import { tokenBeyond, type TokenLayout } from './layout.ts';
import { partAt } from './overview.ts';

/** The token that a key moves to; undefined for other keys. `entering`: none was active, so `from` itself comes first. */
export function keyTarget(
  key: string,
  from: number,
  entering: boolean,
  layout: TokenLayout,
  { tokens, parts, outlined }: Pick<TokenMapData, 'tokens' | 'parts' | 'outlined'>,
): number | undefined {
  const last = tokens.length - 1;
  if (last < 0) return undefined;
  switch (key) {
    case 'ArrowRight':
      return entering ? from : Math.min(last, from + 1);
    case 'ArrowLeft':
      return entering ? from : Math.max(0, from - 1);
    case 'ArrowDown':
      return entering ? from : tokenBeyond(layout, from, 1);
    case 'ArrowUp':
      return entering ? from : tokenBeyond(layout, from, -1);
    case 'Home':
      return 0;
    case 'End':
      return last;
    case 'n': {
      const found = outlined.indexOf(1, entering ? from : from + 1);
      return found === -1 ? from : found;
    }
    case 'p': {
      const found = from === 0 ? -1 : outlined.lastIndexOf(1, from - 1);
      return found === -1 ? from : found;
    }
    case ']':
      return parts[partAt(parts, from) + 1]?.first ?? last;
    case '[': {
      const part = partAt(parts, from);
      const first = parts[part]?.first ?? 0;
      return from > first ? first : (parts[part - 1]?.first ?? 0);
    }
    default:
      return undefined;
  }
}
