// The network addresses that a user's URL may reach (contract of webhooks).
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
/** An address and the length of the prefix that counts. */
export type AddressRange = readonly [Address, number];

/** Azure's wire server: in the midst of public addresses, yet every virtual machine there has it as an internal one. */
const WIRE_SERVER = '168.63.129.16';
/** Only this has been given out as global unicast; `unicast` of the library means "in no list", 4000::1 and ::7f00:1 included. */
const GLOBAL_IPV6: AddressRange = ipaddr.parseCIDR('2000::/3');

/** What the operator wrote is reached wherever it is. */
export const EVERYWHERE: readonly AddressRange[] = [ipaddr.parseCIDR('0.0.0.0/0'), ipaddr.parseCIDR('::/0')];

/** Reads an address in its usual form, as sockets and name servers give it; null for everything else, zones included. */
export function readAddress(text: string): Address | null {
  return isIP(text) === 0 || text.includes('%') ? null : ipaddr.parse(text);
}

/**
 * Whether the address is public unicast. The library's `unicast` leaves out every special range of the IANA registries: private,
 * loopback, link-local, CGNAT, multicast, documentation, 6to4, Teredo, NAT64, ORCHID and the rest of 2001::/23.
 */
export function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' ? address.toString() !== WIRE_SERVER : inRange(address, GLOBAL_IPV6);
}

/** Whether what is sent there stays on this machine: loopback, the unspecified address, which systems take for it, and those of its interfaces. */
export function isOfThisMachine(address: Address): boolean {
  const range = address.range();
  if (range === 'loopback' || range === 'unspecified') return true;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()) return isOfThisMachine(address.toIPv4Address());
  const own = Object.values(networkInterfaces()).flatMap((each = []) => each.map((one) => readAddress(one.address)));
  return own.some((one) => one?.toNormalizedString() === address.toNormalizedString());
}

/** The network of an address, by its first one: `192.0.2.0/24`. */
export function networkText(address: Address, bits: number): string {
  const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${family.networkAddressFromCIDR(`${address}/${bits}`)}/${bits}`;
}

/** As settings name them: `10.0.0.0/8`. */
export function rangesText(ranges: readonly AddressRange[]): string[] {
  return ranges.map(([address, bits]) => `${address}/${bits}`);
}

export function inRanges(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some((range) => inRange(address, range));
}

// An IPv4-mapped IPv6 address is no IPv4 address here: it matches IPv6 ranges only.
function inRange(address: Address, [network, bits]: AddressRange): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}
