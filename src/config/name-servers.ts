// Name servers that the service asks about domains of others (DNS_SERVERS).
import { ConfigError, type Variables } from './variables.ts';

const SERVER = /^(\[[0-9a-f:]{2,39}\]|\d{1,3}(\.\d{1,3}){3})(:\d{1,5})?$/i;

/** `address:port` of each; null: those of the machine. */
export function nameServers(variables: Variables): readonly string[] | null {
  const servers = (variables.text('DNS_SERVERS') ?? '').split(/[\s,]+/).filter((part) => part !== '');
  if (servers.some((server) => !SERVER.test(server))) {
    throw new ConfigError(
      'DNS_SERVERS must be addresses with ports, separated by commas: 192.0.2.1:53, [2001:db8::1]:53',
    );
  }
  return servers.length === 0 ? null : servers;
}
