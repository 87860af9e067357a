import { lookup, type LookupAddress } from 'node:dns';
import http, { type RequestOptions } from 'node:http';
import https from 'node:https';
import { BlockList, isIP, isIPv4 } from 'node:net';
import { promisify } from 'node:util';
import { KvasirError } from '../../../src-shared/errors.ts';
import { reachOf } from '../../../src-shared/reach.ts';

/** IPv4 networks that are not the internet's (IANA's registry of special-purpose addresses), multicast and reserved ones. */
const SPECIAL_V4 =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 ' +
  '192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3';
/** Parts of 2000::/3 likewise: tunnels (Teredo, 6to4), which lead to an IPv4 address, and addresses for documentation. */
const SPECIAL_V6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';
/** An IPv4 address follows these 96 bits: mapped, and translated (NAT64), which networks without IPv4 use for every IPv4 host. */
const BEFORE_V4 = ['::ffff:', '64:ff9b::'];

const special = new BlockList();
const global = new BlockList();
for (const network of SPECIAL_V4.split(' ')) {
  const [address = '', bits] = network.split('/');
  special.addSubnet(address, Number(bits), 'ipv4');
  for (const prefix of BEFORE_V4) special.addSubnet(prefix + address, 96 + Number(bits), 'ipv6');
}
for (const network of SPECIAL_V6.split(' ')) {
  const [address = '', bits] = network.split('/');
  special.addSubnet(address, Number(bits), 'ipv6');
}
global.addSubnet('2000::', 3, 'ipv6');
for (const prefix of BEFORE_V4) global.addSubnet(`${prefix}0.0.0.0`, 96, 'ipv6');

/** Whether an IP address, without brackets, is one of the internet. */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !special.check(address, 'ipv4');
  return isIP(address) === 6 && global.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

interface PublicOptions {
  /** All addresses of a host name. */
  resolve?: (host: string) => Promise<LookupAddress[]>;
  isPublic?: (address: string) => boolean;
  env?: NodeJS.ProcessEnv;
}

const lookupAll = promisify(lookup);

/**
 * How to connect to a URL on the internet: to exactly the addresses that were checked, so that a name server cannot name others for the
 * connection. PAGE_PRIVATE if any of the host's addresses is not public. A proxy of the environment resolves names itself: there the check
 * is of what this computer knows of the name.
 */
export function publicConnection({
  resolve = (host) => lookupAll(host, { all: true }),
  isPublic = isPublicAddress,
  env = process.env,
}: PublicOptions = {}): (url: URL) => Promise<RequestOptions> {
  return async (url) => {
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    const proxy = proxyFor(url, env);
    if (proxy !== undefined && isIP(host) === 0 && reachOf(host) !== 'internet') throw privateHost(url);
    const literal = isIP(host) > 0 ? [{ address: host, family: isIP(host) }] : undefined;
    const addresses =
      literal ?? (await resolve(host).catch((error: unknown) => (proxy === undefined ? fail(error) : [])));
    if (!addresses.every(({ address }) => isPublic(address))) throw privateHost(url);
    const { Agent } = url.protocol === 'https:' ? https : http;
    if (proxy !== undefined)
      return { agent: new Agent({ proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } }) };
    return {
      agent: new Agent(),
      lookup: (_, { all }, done) => {
        const [{ address, family } = { address: '', family: 0 }] = addresses;
        if (all === true) done(null, addresses);
        else done(null, address, family);
      },
    };
  };
}

/** The proxy that the environment names for a URL. Exceptions are for private hosts; only the one for all hosts is kept. */
function proxyFor({ protocol }: URL, env: NodeJS.ProcessEnv): string | undefined {
  const one = (name: string): string => env[name.toLowerCase()] || env[name] || '';
  return one('NO_PROXY').trim() === '*'
    ? undefined
    : one(`${protocol.slice(0, -1).toUpperCase()}_PROXY`) || undefined;
}

function fail(error: unknown): never {
  throw error;
}

function privateHost({ host }: URL): KvasirError {
  return new KvasirError(
    'PAGE_PRIVATE',
    `${host} is on this computer or a private network. Kvasir fetches pages from the internet only.`,
    'Save the page in your browser and add the file.',
  );
}
