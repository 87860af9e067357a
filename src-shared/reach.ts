/** How far data sent to a host travels: only this computer, a local network, or the internet. */
export type Reach = 'here' | 'network' | 'internet';

/** The reach of a host in URL notation: lower case, IPv6 in brackets, IPv4 as four numbers. */
export function reachOf(hostname: string): Reach {
  const name = hostname.toLowerCase().replace(/\.$/, '');
  if (name.startsWith('[')) return reachOfV6(name.slice(1, -1));
  if (/^\d+(\.\d+){3}$/.test(name)) return reachOfV4(name);
  if (name === 'localhost' || name.endsWith('.localhost')) return 'here';
  const isLocal = !name.includes('.') || /\.(local|lan|home|internal|home\.arpa)$/.test(name);
  return isLocal ? 'network' : 'internet';
}

function reachOfV4(address: string): Reach {
  const [a = 0, b = 0] = address.split('.').map(Number);
  if (a === 127) return 'here';
  const isPrivate = a === 10 || a === 0 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168);
  const isNear = (a === 169 && b === 254) || (a === 100 && b >= 64 && b < 128);
  return isPrivate || isNear ? 'network' : 'internet';
}

function reachOfV6(address: string): Reach {
  if (address === '::1') return 'here';
  const mapped = /^::ffff:([0-9a-f]{1,4}):[0-9a-f]{1,4}$/.exec(address)?.[1];
  if (mapped !== undefined) {
    const high = Number.parseInt(mapped, 16);
    return reachOfV4(`${high >> 8}.${high & 255}.0.0`);
  }
  return /^(f[cd]|fe[89ab])/.test(address) ? 'network' : 'internet';
}
