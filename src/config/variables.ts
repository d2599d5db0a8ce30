// Typed readers of single environment variables. Each method returns the value or throws a ConfigError that names the variable.

import ipaddr from 'ipaddr.js';
import { findMisspelt, type Misspelt } from './misspelt.ts';

export type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** A variable has a value that cannot be used; the process exits with code 78 (EX_CONFIG of sysexits). */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** A variable by its earlier name. */
export interface Renamed {
  readonly name: string;
  readonly now: string;
  readonly isUsed: boolean;
}

export class Variables {
  readonly #env: Record<string, string | undefined>;
  /** Of the variables that were asked for. */
  readonly names = new Set<string>();
  /** What variables are called now, by their earlier names. */
  readonly #renamed = new Map<string, string>();

  constructor(env: Record<string, string | undefined>) {
    this.#env = env;
  }

  text(name: string): string | undefined {
    this.names.add(name);
    const value = this.#env[name]?.trim();
    if (value?.includes('\0')) throw new ConfigError(`${name} must not contain a NUL character`);
    return value === '' ? undefined : value;
  }

  /** `name`, or `earlier`, as it was once called, where only that is set: `findRenamed` tells of it. */
  currentName(name: string, earlier: string): string {
    this.#renamed.set(earlier, name);
    return this.text(name) === undefined && this.#isSet(earlier) ? earlier : name;
  }

  /** Variables of the environment that have another name now. `isUsed`: the new one is not set beside it. */
  findRenamed(): Renamed[] {
    const given = [...this.#renamed].filter(([earlier]) => this.#isSet(earlier));
    return given.map(([earlier, now]) => ({ name: earlier, now, isUsed: !this.#isSet(now) }));
  }

  /** Names in the environment that look like one that was asked for and are none. */
  findMisspelt(): Misspelt[] {
    const given = Object.keys(this.#env).filter((name) => this.#env[name] !== '' && !this.#renamed.has(name));
    return findMisspelt(given, this.names);
  }

  secret(name: string, charactersMin: number): string | undefined {
    const value = this.text(name);
    if (value !== undefined && value.length < charactersMin) {
      throw new ConfigError(`${name} must have at least ${charactersMin} characters`);
    }
    return value;
  }

  /** `word`: what may stand there instead, for the message. */
  integer(name: string, fallback: number, { min, max, word }: { min: number; max: number; word?: string }): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    const others = word === undefined ? '' : ` or ${word}`;
    throw new ConfigError(
      `${name} must be a whole number from ${min} to ${max}${others}, not ${JSON.stringify(value)}`,
    );
  }

  positive(name: string, fallback: number): number {
    const value = this.text(name);
    if (value === undefined) return fallback;
    const number = /^\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : Number.NaN;
    if (number > 0) return number;
    throw new ConfigError(`${name} must be a positive decimal number, not ${JSON.stringify(value)}`);
  }

  /** Nano-USD. */
  usd(name: string, fallbackNanos: bigint): bigint {
    const value = this.text(name);
    if (value === undefined) return fallbackNanos;
    const [, whole = '', cents = ''] = /^(\d{1,6})(?:\.(\d{1,2}))?$/.exec(value) ?? [];
    if (whole !== '') return (BigInt(whole) * 100n + BigInt(cents.padEnd(2, '0'))) * 10_000_000n;
    throw new ConfigError(`${name} must be an amount of USD with up to two decimals, not ${JSON.stringify(value)}`);
  }

  oneOf<T extends string>(name: string, allowed: readonly T[], fallback: T): T {
    const value = this.text(name) ?? fallback;
    const found = allowed.find((candidate) => candidate === value);
    if (found !== undefined) return found;
    throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not ${JSON.stringify(value)}`);
  }

  /** All of `allowed` when it is not set; in their order. */
  someOf<T extends string>(name: string, allowed: readonly T[]): readonly T[] {
    const named = this.list(name);
    const unknown = named.find((entry) => !allowed.some((candidate) => candidate === entry));
    if (unknown !== undefined)
      throw new ConfigError(`${name} must be a list of ${allowed.join(', ')}, not ${JSON.stringify(unknown)}`);
    return named.length === 0 ? allowed : allowed.filter((candidate) => named.includes(candidate));
  }

  host(name: string, fallback: string): string {
    const value = this.text(name) ?? fallback;
    if (ipaddr.isValid(value) || /^[a-z0-9]([a-z0-9.-]{0,252})$/i.test(value)) return value;
    throw new ConfigError(`${name} must be an IP address or a host name, not ${JSON.stringify(value)}`);
  }

  httpUrl(name: string, fallback: string): string {
    const value = this.text(name) ?? fallback;
    const url = URL.parse(value);
    const plain = url !== null && url.search === '' && url.hash === '' && url.username === '' && url.password === '';
    if (plain && /^https?:$/.test(url.protocol)) return value.replace(/\/+$/, '');
    throw new ConfigError(`${name} must be an http or https URL without user, query or fragment`);
  }

  postgresUrl(name: string): string | undefined {
    const value = this.text(name);
    if (value === undefined || /^postgres(ql)?:\/\/\S+$/.test(value)) return value;
    throw new ConfigError(`${name} must be a URL of the form postgresql://user:password@host:5432/database`);
  }

  addressRanges(name: string): AddressRange[] {
    return this.list(name).map((entry) => {
      const range = parseAddressRange(entry);
      if (range !== undefined) return range;
      throw new ConfigError(`${name} must be a comma-separated list of networks such as 10.0.0.0/8, not ${entry}`);
    });
  }

  /** Never every address there is: any caller could then say it comes from any other. */
  trustedProxies(name: string): false | string[] {
    const value = this.text(name) ?? 'off';
    if (value === 'off' || value === 'false') return false;
    const entries = this.list(name);
    const names = ['loopback', 'linklocal', 'uniquelocal'];
    if (entries.every((entry) => names.includes(entry) || (parseAddressRange(entry)?.[1] ?? 0) > 0)) return entries;
    throw new ConfigError(
      `${name} must be off or a comma-separated list of the proxies' networks such as 10.0.0.0/8, not ${JSON.stringify(value)}`,
    );
  }

  /** Entries separated by commas or spaces. */
  list(name: string): string[] {
    return (this.text(name) ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  }

  #isSet(name: string): boolean {
    return (this.#env[name]?.trim() ?? '') !== '';
  }
}

function parseAddressRange(entry: string): AddressRange | undefined {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  const strict = ipaddr.IPv4.isValidFourPartDecimal(entry) || ipaddr.IPv6.isValid(entry);
  if (!strict) return undefined;
  const address = ipaddr.parse(entry);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
