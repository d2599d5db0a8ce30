// The hosts of a connection: names, `*.` for any depth below a name, and addresses, each with or without a port. They are part of the
// seal, so their text is normalised once, when it is set.
import { isIP } from 'node:net';
import { invalidField } from '../../../problems/problem.ts';
import { defaultPort, isHostText, type RequestTarget } from './target.ts';

const PORT_MAX = 65_535;

interface HostEntry {
  /** Whether it stands for all names below `name`. */
  readonly isWildcard: boolean;
  /** As RequestTarget has its host. */
  readonly name: string;
  /** Null: the default port of the scheme. */
  readonly port: number | null;
}

/**
 * Checks hosts as a person writes them, and normalises each: lower case, punycode, no final dot, addresses in their usual form.
 * @throws VALIDATION_FAILED that names the entry, such as `hosts[2]`.
 */
export function checkHosts(hosts: readonly string[], param: string): string[] {
  const normalised = hosts.map((host, i) => checkHost(host, `${param}[${i}]`));
  const repeated = normalised.findIndex((host, i) => normalised.indexOf(host) < i);
  if (repeated === -1) return normalised;
  throw invalidField(`${param}[${repeated}]`, 'unique', `The host ${normalised[repeated]} is already in the list.`);
}

/** Whether an entry names the target. Without a port, an entry names only the default port of the target's scheme. */
export function isHostAllowed(
  hosts: readonly string[],
  { secure, host, port }: Pick<RequestTarget, 'secure' | 'host' | 'port'>,
): boolean {
  return hosts.map(readEntry).some((entry) => isNamedBy(entry, host) && port === (entry.port ?? defaultPort(secure)));
}

/**
 * How long the name is by which the longest fitting entry names a host: an exact name counts more than a `*.` that names it too, and
 * ports do not count. 0 when none fits. Where the scheme is not known yet (CONNECT), an entry without a port fits 443 and 80.
 * @param host in lower case, without a final dot or brackets
 */
export function hostMatchLength(hosts: readonly string[], host: string, port: number): number {
  const fitting = hosts.map(readEntry).filter((entry) => isNamedBy(entry, host) && isPortOf(entry, port));
  // The dot of `*.name` counts, its star does not: one less than the shortest exact name that it stands for.
  return Math.max(0, ...fitting.map(({ isWildcard, name }) => name.length + (isWildcard ? 1 : 0)));
}

function isNamedBy({ isWildcard, name }: HostEntry, host: string): boolean {
  return isWildcard ? host.length > name.length + 1 && host.endsWith(`.${name}`) : host === name;
}

function isPortOf(entry: HostEntry, port: number): boolean {
  return entry.port === null ? port === defaultPort(true) || port === defaultPort(false) : port === entry.port;
}

function checkHost(text: string, param: string): string {
  const { isWildcard, written, port } = splitEntry(text);
  const name = readName(text, written);
  if (name === null) {
    throw invalidField(
      param,
      'format',
      'Write a host such as api.example.org, *.example.org, api.example.org:8443 or [2001:db8::1]: no scheme, path or user name, and * only in front.',
    );
  }
  if (isWildcard && (isIP(name) !== 0 || !name.includes('.'))) {
    throw invalidField(
      param,
      'format',
      'A wildcard needs a name of at least two labels below it, such as *.example.org.',
    );
  }
  if (port !== null && (port < 1 || port > PORT_MAX)) {
    throw invalidField(param, 'format', `The port must be from 1 to ${PORT_MAX}.`);
  }
  return `${isWildcard ? '*.' : ''}${isIP(name) === 6 ? `[${name}]` : name}${port === null ? '' : `:${port}`}`;
}

/** The name as the WHATWG parser reads hosts; null where there is more than a name, or none. */
function readName(entry: string, written: string): string | null {
  if (!entry.isWellFormed() || /[\s\p{Cc}/\\?#@%]/u.test(entry)) return null;
  // A colon outside of brackets would be a second port, which the parser drops when it is 443.
  if (written.includes('*') || !/^(?:\[[^[\]]*\]|[^:[\]]+)$/.test(written)) return null;
  const hostname = URL.parse(`https://${written}/`)?.hostname;
  if (hostname === undefined) return null;
  const name = withoutBrackets(hostname).replace(/\.$/, '');
  return isHostText(name) ? name : null;
}

function readEntry(entry: string): HostEntry {
  const { isWildcard, written, port } = splitEntry(entry);
  return { isWildcard, name: withoutBrackets(written), port };
}

function splitEntry(entry: string) {
  const [, star, written = '', port] = /^(\*\.)?(.*?)(?::(\d+))?$/s.exec(entry) ?? [];
  return { isWildcard: star !== undefined, written, port: port === undefined ? null : Number(port) };
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
