// Name servers that a look-up may ask: the operator's resolvers, wherever they are, and any public address at port 53.
import { isPublic, readAddress } from '../../../lib/address.ts';
import { type NameServer, readNameServer } from '../../../lib/name-server.ts';
import { invalidField } from '../../../problems/problem.ts';
import { readName } from '../records/names.ts';
import type { DnsState } from '../state.ts';

/** Throws VALIDATION_FAILED. */
export function resolverOf(text: string | undefined, { resolvers }: Pick<DnsState, 'resolvers'>): NameServer {
  const named = text === undefined ? resolvers[0] : resolvers.find((resolver) => resolver.text === text);
  if (named !== undefined) return named;
  const server = readNameServer(text ?? '');
  const address = server === null ? null : readAddress(server.host);
  if (server !== null && server.port === 53 && address !== null && isPublic(address)) return server;
  throw invalidField(
    'resolver',
    'address',
    'resolver must be the public IP address of a name server, such as 9.9.9.9.',
  );
}

/** The name that is looked up. Throws VALIDATION_FAILED. */
export function requireLookupName(text: string): string {
  const name = readName(text);
  if (name !== null) return name;
  throw invalidField('name', 'pattern', 'name must be a domain name, such as www.example.org.');
}
