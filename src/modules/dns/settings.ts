// What the operator sets for DNS.
import { isIP } from 'node:net';
import { ConfigError, type Variables } from '../../config/variables.ts';
import { readName } from './records/names.ts';

/** What a look-up asks when neither the call nor the operator says. */
const PUBLIC = ['1.1.1.1', '8.8.8.8', '9.9.9.9'];
const SERVERS_MAX = 16;

export function dnsSettings(variables: Variables) {
  const port = variables.integer('DNS_PORT', 0, { min: 1, max: 65_535 });
  const resolvers = listOf(variables, 'DNS_RESOLVERS');
  return {
    /** Where questions are answered, by UDP and TCP; null: nowhere. */
    port: port === 0 ? null : port,
    /** What this service's name servers are called, in NS and SOA records; none: as BASE_URL is. */
    names: listOf(variables, 'DNS_NAMES').map(nameOf),
    /** Whom look-ups ask; the first of them when a call does not say. */
    resolvers: (resolvers.length === 0 ? PUBLIC : resolvers).map(serverOf),
    /** Answers by UDP to one network (/24, /56) in a second; 0: as many as are asked for. */
    rate: variables.integer('DNS_RATE', 200, { min: 0, max: 1_000_000 }),
  };
}

export type DnsSettings = ReturnType<typeof dnsSettings>;

/** A name server; `text` is how it is written and shown. */
export interface Server {
  readonly text: string;
  readonly host: string;
  readonly port: number;
}

/** `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`; null for everything else. */
export function readServer(text: string): Server | null {
  if (isIP(text) !== 0 && !text.includes('%')) return { text, host: text, port: 53 };
  const [, inBrackets, plain, digits = ''] = /^(?:\[([0-9a-f:.]{2,45})\]|([0-9.]{7,15})):(\d{1,5})$/i.exec(text) ?? [];
  const host = inBrackets ?? plain ?? '';
  const port = Number(digits);
  const isRight = isIP(host) === (inBrackets === undefined ? 4 : 6) && port > 0 && port < 65_536;
  return isRight ? { text, host, port } : null;
}

function serverOf(text: string): Server {
  const server = readServer(text);
  if (server !== null) return server;
  throw new ConfigError(
    'DNS_RESOLVERS must be addresses of name servers, separated by commas: 192.0.2.1, 192.0.2.1:5353, [2001:db8::1]:53',
  );
}

function nameOf(text: string): string {
  const name = readName(text);
  if (name?.includes('.') === true) return name;
  throw new ConfigError('DNS_NAMES must be names of hosts, separated by commas, such as ns1.example.net');
}

function listOf(variables: Variables, name: string): readonly string[] {
  const parts = (variables.text(name) ?? '').split(/[\s,]+/).filter((part) => part !== '');
  if (parts.length > SERVERS_MAX) throw new ConfigError(`${name} takes at most ${SERVERS_MAX}, separated by commas`);
  return parts;
}
