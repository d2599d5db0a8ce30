// Resolves names by c-ares. getaddrinfo would take one of libuv's four threads per lookup. A few names with dead name servers would then
// hold up everyone's deliveries.
import { lookup, Resolver } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Resolve } from './guard.ts';

const TRY_MS = 1_500;
const TRIES = 2;
/** After the answer for one family the other has this long. */
const OTHER_FAMILY_MS = 300;
/** Bursts to one receiver ask once. Safe at any length: what is connected to is what was checked, not what a name says later. */
const KEPT_MS = 2_000;
const KEPT_MAX = 1_000;

/** A resolver reads the machine's list of name servers when it is made. */
const RESOLVER_LIFE_MS = 60_000;

/**
 * The default look-up: all IPv4 addresses, then all IPv6 addresses.
 * @param withSystemNames names that no server knows, and single labels at once, are sought as the system does it (hosts file,
 * search domains). For services that exempt private networks only: elsewhere such names lead to refused addresses anyway.
 * @param servers `address:port` of name servers; those of the machine when absent.
 */
export function systemResolve(withSystemNames: boolean, servers?: readonly string[]): Resolve {
  const kept = new LRUCache<string, Promise<readonly string[]>>({ max: KEPT_MAX, ttl: KEPT_MS });
  const ask = nameServers(servers);
  const seek = (host: string) => {
    if (!withSystemNames) return ask(host);
    return host.includes('.') ? ask(host).catch(() => askSystem(host)) : askSystem(host);
  };
  return (host) => {
    const known = kept.get(host);
    if (known !== undefined) return known;
    const found = seek(host);
    kept.set(host, found);
    return found;
  };
}

function nameServers(servers?: readonly string[]): Resolve {
  let resolver: Resolver | undefined;
  let madeMs = 0;
  return (host) => {
    const nowMs = performance.now();
    if (resolver === undefined || nowMs - madeMs > RESOLVER_LIFE_MS) {
      resolver = new Resolver({ timeout: TRY_MS, tries: TRIES });
      if (servers !== undefined) resolver.setServers(servers);
      madeMs = nowMs;
    }
    return askBoth(resolver, host);
  };
}

// One family is enough: many names have no AAAA record, and some name servers never answer the question for one. A late answer
// that is left out is no danger, for nothing is connected to but what was checked.
async function askBoth(resolver: Resolver, host: string): Promise<readonly string[]> {
  const asked = [resolver.resolve4(host), resolver.resolve6(host)];
  await Promise.any(asked);
  const late = sleep(OTHER_FAMILY_MS, [], { ref: false });
  const found = await Promise.all(asked.map((family) => Promise.race([family.catch(() => []), late])));
  return found.flat();
}

async function askSystem(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: 'ipv4first' });
  return found.map(({ address }) => address);
}
