import ipaddr from 'ipaddr.js';

/** Whether a host of a URL (without a port; an IPv6 address with or without brackets) is this machine. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  return name === 'localhost' || (ipaddr.isValid(name) && ipaddr.process(name).range() === 'loopback');
}
