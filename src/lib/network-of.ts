// Who an address is, for bounds by address.
import ipaddr from 'ipaddr.js';

/** One IPv6 customer has a whole /64 to call from. */
export function networkOf(address: string): string {
  if (!ipaddr.IPv6.isValid(address)) return address;
  const { parts } = ipaddr.IPv6.parse(address);
  const mapped = ipaddr.process(address);
  return mapped.kind() === 'ipv4' ? mapped.toString() : parts.slice(0, 4).join(':');
}
