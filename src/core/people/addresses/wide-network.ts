// The network that an address counts for where many addresses may be one person's: /24 of IPv4, /48 of IPv6.
import ipaddr from 'ipaddr.js';

/** Null on this machine: nobody is limited there. */
export function wideNetworkOf(address: string): string | null {
  if (!ipaddr.isValid(address)) return address;
  const known = ipaddr.process(address);
  if (known.range() === 'loopback') return null;
  const bits = known.kind() === 'ipv4' ? 24 : 48;
  const network = known.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return `${network.networkAddressFromCIDR(`${known}/${bits}`)}/${bits}`;
}
