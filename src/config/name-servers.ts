// DNS_RESOLVERS: the name servers that the service queries about other people's domains.
import { type NameServer, readNameServer } from '../lib/name-server.ts';
import { ConfigError, type Variables } from './variables.ts';

const SERVERS_MAX = 16;

/** Null: none are set. */
export function nameServers(variables: Variables): readonly NameServer[] | null {
  const name = variables.currentName('DNS_RESOLVERS', 'DNS_SERVERS');
  const texts = (variables.text(name) ?? '').split(/[\s,]+/).filter((part) => part !== '');
  if (texts.length > SERVERS_MAX) throw new ConfigError(`${name} takes at most ${SERVERS_MAX}, separated by commas`);
  const servers = texts.map((text) => {
    const server = readNameServer(text);
    if (server !== null) return server;
    throw new ConfigError(
      `${name} must be addresses of name servers, separated by commas: 192.0.2.1, 192.0.2.1:5353, [2001:db8::1]:53`,
    );
  });
  return servers.length === 0 ? null : servers;
}
