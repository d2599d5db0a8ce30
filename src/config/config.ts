// Environment variables -> one typed, checked, frozen Config. Every variable is optional; an empty one counts as unset.

import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { isLoopback } from '../lib/loopback.ts';
import type { NameServer } from '../lib/name-server.ts';
import { type AssetsLocation, assetsLocation } from './assets-url.ts';
import { type IdentityProviderSettings, identityProviders } from './identity-providers.ts';
import { nameServers } from './name-servers.ts';
import { type PaymentSettings, paymentSettings } from './payments.ts';
import { type PeopleSettings, peopleSettings } from './people.ts';
import { type RoleSettings, roleSettings } from './roles.ts';
import { type S3Addresses, s3Addresses } from './s3.ts';
import { type TlsSettings, tlsSettings } from './tls.ts';
import { type TracingSettings, tracingSettings } from './tracing.ts';
import { type AddressRange, Variables } from './variables.ts';

export { type AddressRange, ConfigError } from './variables.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const REGIONS = ['western', 'china'] as const;
const ON_OFF = ['on', 'off'] as const;
const AUTO_WORKERS_MAX = 8;
const WORKERS_MAX = 64;
const SECRETS_KEY_CHARACTERS_MIN = 16;

export interface Config extends RoleSettings {
  readonly host: string;
  /** 0 lets the system choose; `baseUrl` then still says port 0 until the socket is bound. */
  readonly port: number;
  /** Null: plain HTTP. */
  readonly tls: TlsSettings | null;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Absolute. */
  readonly dataDir: string;
  /** Absent: the service runs its own PostgreSQL under `dataDir`. */
  readonly databaseUrl?: string;
  /** Of what is made and kept outside of the database. */
  readonly assets: AssetsLocation;
  /** Addresses whose root is that of S3. */
  readonly s3: S3Addresses;
  /** Absolute. */
  readonly vendorsFile: string;
  /** A file that the operator names must be there; the usual one may be absent. */
  readonly isVendorsFileNamed: boolean;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly rateLimits: boolean;
  /** Processes that answer behind the one port. */
  readonly workers: number;
  readonly secretsKey?: string;
  readonly region: (typeof REGIONS)[number];
  readonly cnyPerUsd: number;
  readonly payments: PaymentSettings;
  readonly people: PeopleSettings;
  /** Who may vouch for people who sign in. */
  readonly identityProviders: readonly IdentityProviderSettings[];
  /** What an account gets at its first sign-in by one of them. */
  readonly signUpCreditNanos: bigint;
  /** As Fastify's `trustProxy`: off, or the proxies' networks (`on` or a number of hops would let direct clients spoof their address). */
  readonly trustProxy: false | string[];
  /** Told by TRUST_PROXY, or by a public address that is not where the service listens. */
  readonly isBehindProxy: boolean;
  /** Networks that webhooks may reach although they are not public; for `address.match(range)` of ipaddr.js. */
  readonly allowPrivateTargets: readonly AddressRange[];
  /** Networks that pages, pictures and files may be read from although they are not public. */
  readonly allowPrivateSources: readonly AddressRange[];
  /** A Chromium or Chrome; null: there is none. */
  readonly chromiumPath: string | null;
  /** `address:port` of name servers that are asked about domains of others; null: those of the machine. */
  readonly nameServers: readonly NameServer[] | null;
  /** How long entries of the ledger are kept, at least; in whole months. */
  readonly ledgerDays: number;
  readonly testClock: boolean;
  readonly metricsToken?: string;
  /** Null: there are no traces. */
  readonly tracing: TracingSettings | null;
  /** Reads variables that a module brings, by the same rules. */
  settings<T>(read: (variables: Variables) => T): T;
}

/**
 * Reads the configuration (contract section 0).
 * @throws ConfigError with one line that names the variable; values of secrets are never repeated.
 */
export function loadConfig(env: Record<string, string | undefined>): Config {
  const variables = new Variables(env);
  const host = variables.host('HOST', '127.0.0.1');
  const port = variables.integer('PORT', 8787, { min: 0, max: 65_535 });
  const tls = tlsSettings(variables, [port]);
  const own = originOf({ host, port, tls });
  const baseUrl = variables.httpUrl('BASE_URL', own);
  const roles = roleSettings(variables, [port]);
  const trustProxy = variables.trustedProxies('TRUST_PROXY');
  const dataDir = resolve(variables.text('DATA_DIR') ?? './data');
  const vendorsFile = variables.text('VENDORS_FILE');
  const cnyPerUsd = variables.positive('CNY_PER_USD', 7.2);
  return Object.freeze({
    host,
    port,
    tls,
    baseUrl,
    dataDir,
    databaseUrl: variables.postgresUrl('DATABASE_URL'),
    assets: assetsLocation(variables, dataDir),
    s3: s3Addresses(variables, { port, baseUrl }),
    vendorsFile: resolve(vendorsFile ?? join(dataDir, 'vendors.yaml')),
    isVendorsFileNamed: vendorsFile !== undefined,
    logLevel: variables.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    rateLimits: variables.oneOf('RATE_LIMITS', ON_OFF, 'on') === 'on',
    ...roles,
    workers: roles.roles.includes('web') ? workersOf(variables) : 1,
    secretsKey: variables.secret('SECRETS_KEY', SECRETS_KEY_CHARACTERS_MIN),
    region: variables.oneOf('REGION', REGIONS, 'western'),
    cnyPerUsd,
    payments: paymentSettings(variables, { baseUrl, cnyPerUsd }),
    people: peopleSettings(variables, baseUrl),
    identityProviders: identityProviders(variables),
    signUpCreditNanos: variables.usd('SIGNUP_CREDIT_USD', 2_000_000_000n),
    trustProxy,
    isBehindProxy: trustProxy !== false || isElsewhere(baseUrl, own),
    allowPrivateTargets: Object.freeze(variables.addressRanges('ALLOW_PRIVATE_TARGETS')),
    allowPrivateSources: Object.freeze(variables.addressRanges('ALLOW_PRIVATE_SOURCES')),
    chromiumPath: variables.text('CHROMIUM_PATH') ?? null,
    nameServers: nameServers(variables),
    ledgerDays: variables.integer('LEDGER_DAYS', 3_650, { min: 90, max: 36_500 }),
    testClock: variables.oneOf('TEST_CLOCK', ON_OFF, 'off') === 'on',
    metricsToken: variables.secret('METRICS_TOKEN', 1),
    tracing: tracingSettings(variables),
    settings: <T>(read: (variables: Variables) => T) => read(variables),
  });
}

/** One unless told otherwise: several gain little while PostgreSQL works on the same cores (docs/performance.md), and each takes memory. */
function workersOf(variables: Variables): number {
  if (variables.text('WORKERS') === 'auto') return Math.min(availableParallelism(), AUTO_WORKERS_MAX);
  return variables.integer('WORKERS', 1, { min: 1, max: WORKERS_MAX, word: 'auto' });
}

function isElsewhere(baseUrl: string, listensAt: string): boolean {
  const { host, hostname } = new URL(baseUrl);
  return host !== new URL(listensAt).host && !isLoopback(hostname);
}

/** `http://HOST:PORT`, with the brackets an IPv6 literal needs; https where TLS ends here. */
export function originOf({ host, port, tls }: Pick<Config, 'host' | 'port' | 'tls'>): string {
  return `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
