// Operator's settings for DNS.
import { ConfigError, type Variables } from '../../config/variables.ts';
import { readName } from './records/names.ts';

const NAMES_MAX = 16;

export function dnsSettings(variables: Variables) {
  const port = variables.integer('DNS_PORT', 0, { min: 1, max: 65_535 });
  return {
    /** Where questions are answered, by UDP and TCP; null: nowhere. */
    port: port === 0 ? null : port,
    /** What this service's name servers are called, in NS and SOA records; none: as BASE_URL is. */
    names: namesOf(variables),
    /** Answers by UDP to one network (/24, /56) in a second; 0: as many as are asked for. */
    rate: variables.integer('DNS_RATE', 200, { min: 0, max: 1_000_000 }),
  };
}

export type DnsSettings = ReturnType<typeof dnsSettings>;

function nameOf(text: string): string {
  const name = readName(text);
  if (name?.includes('.') === true) return name;
  throw new ConfigError('DNS_NAMES must be names of hosts, separated by commas, such as ns1.example.net');
}

function namesOf(variables: Variables): readonly string[] {
  const texts = (variables.text('DNS_NAMES') ?? '').split(/[\s,]+/).filter((part) => part !== '');
  if (texts.length > NAMES_MAX) throw new ConfigError(`DNS_NAMES takes at most ${NAMES_MAX}, separated by commas`);
  return texts.map(nameOf);
}
