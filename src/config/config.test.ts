import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from './config.ts';

describe('loadConfig', () => {
  it('needs no variable at all', () => {
    expect(loadConfig({})).toEqual({
      host: '127.0.0.1',
      port: 8787,
      baseUrl: 'http://127.0.0.1:8787',
      tls: null,
      dataDir: resolve('data'),
      databaseUrl: undefined,
      assets: { kind: 'folder', folder: resolve('data/assets') },
      s3: { port: null, domain: null },
      vendorsFile: resolve('data/vendors.yaml'),
      isVendorsFileNamed: false,
      logLevel: 'info',
      rateLimits: true,
      roles: ['web', 'work', 'render'],
      renderPort: null,
      renderers: [],
      workers: 1,
      secretsKey: undefined,
      region: 'western',
      cnyPerUsd: 7.2,
      payments: {
        provider: 'sandbox',
        stripe: null,
        fxRatesNanos: { USD: 1_000_000_000n, CNY: 7_200_000_000n },
        reviewAboveNanos: null,
        kycAboveNanos: null,
        tierPricesNanos: { pro: 20_000_000_000n },
      },
      people: expect.any(Object),
      identityProviders: [],
      signUpCreditNanos: 2_000_000_000n,
      trustProxy: false,
      isBehindProxy: false,
      allowPrivateTargets: [],
      allowPrivateSources: [],
      chromiumPath: null,
      nameServers: null,
      ledgerDays: 3_650,
      testClock: false,
      metricsToken: undefined,
      tracing: null,
      settings: expect.any(Function),
    });
  });

  it('reads every variable', () => {
    const config = loadConfig({
      HOST: '::1',
      PORT: '0',
      DATA_DIR: '/var/lib/q',
      DATABASE_URL: 'postgresql://u:p@h/d',
      VENDORS_FILE: '/etc/q/vendors.yaml',
      LOG_LEVEL: 'debug',
      RATE_LIMITS: 'off',
      ROLES: 'work,render',
      SECRETS_KEY: 'k'.repeat(32),
      REGION: 'china',
      CNY_PER_USD: '6.85',
      TRUST_PROXY: '10.0.0.0/8, loopback',
      ALLOW_PRIVATE_TARGETS: '127.0.0.0/8, ::1',
      TEST_CLOCK: 'on',
      METRICS_TOKEN: 'm',
    });
    expect(config).toMatchObject({
      baseUrl: 'http://[::1]:0',
      dataDir: '/var/lib/q',
      vendorsFile: '/etc/q/vendors.yaml',
      isVendorsFileNamed: true,
      rateLimits: false,
      cnyPerUsd: 6.85,
      trustProxy: ['10.0.0.0/8', 'loopback'],
      isBehindProxy: true,
      testClock: true,
    });
    expect(config.allowPrivateTargets.map(([address, bits]) => `${address}/${bits}`)).toEqual([
      '127.0.0.0/8',
      '::1/128',
    ]);
  });

  it.each([
    [{ WORKERS: '3' }, 3],
    [{ WORKERS: 'auto' }, Math.min(availableParallelism(), 8)],
    [{ WORKERS: '3', ROLES: 'work,render' }, 1],
  ])('%j: %i processes', (env, workers) => {
    expect(loadConfig(env)).toMatchObject({ workers });
  });

  it('takes an empty variable as unset and drops the trailing slash of BASE_URL', () => {
    expect(loadConfig({ PORT: '', BASE_URL: 'https://q.example/' })).toMatchObject({
      port: 8787,
      baseUrl: 'https://q.example',
    });
  });

  it.each([
    ['HOST', 'a b'],
    ['PORT', '65536'],
    ['PORT', '80.5'],
    ['BASE_URL', 'ftp://x'],
    ['BASE_URL', 'https://x/?a=1'],
    ['DATABASE_URL', 'mysql://x'],
    ['LOG_LEVEL', 'loud'],
    ['RATE_LIMITS', 'no'],
    ['ROLES', 'api'],
    ['ROLES', 'web,king'],
    ['RENDERERS', '10.0.0.7:8790'],
    ['RENDER_PORT', '8787'],
    ['RENDER_PORT', '70000'],
    ['WORKERS', '0'],
    ['WORKERS', '65'],
    ['WORKERS', 'all'],
    ['SECRETS_KEY', 'short'],
    ['REGION', 'moon'],
    ['CNY_PER_USD', '0'],
    ['CNY_PER_USD', '-1'],
    ['TRUST_PROXY', 'someone'],
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', 'on'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '0.0.0.0/0'],
    ['TRUST_PROXY', '10.0.0.0/8, ::/0'],
    ['ALLOW_PRIVATE_TARGETS', '10.0.0.0/33'],
    ['ALLOW_PRIVATE_TARGETS', '10'],
    ['ALLOW_PRIVATE_SOURCES', '10.0.0.0/33'],
    ['LEDGER_DAYS', '30'],
    ['TEST_CLOCK', 'true'],
  ])('refuses %s=%s with one line that names it', (name, value) => {
    const act = () => loadConfig({ [name]: value });
    expect(act).toThrow(ConfigError);
    expect(act).toThrow(new RegExp(`^${name} .+$`));
  });

  it('reads what a module asks for by the same rules', () => {
    const size = (env: Record<string, string>) =>
      loadConfig(env).settings((variables) => variables.integer('PARCELS', 3, { min: 1, max: 9 }));
    expect([size({}), size({ PARCELS: '4' })]).toEqual([3, 4]);
    expect(() => size({ PARCELS: '10' })).toThrow('PARCELS must be a whole number from 1 to 9, not "10"');
  });

  it('says what networks TRUST_PROXY wants', () => {
    expect(() => loadConfig({ TRUST_PROXY: 'on' })).toThrow(
      `TRUST_PROXY must be off or a comma-separated list of the proxies' networks such as 10.0.0.0/8, not "on"`,
    );
  });

  it.each([
    [{}, false],
    [{ HOST: '0.0.0.0' }, false],
    [{ BASE_URL: 'http://localhost:9000' }, false],
    [{ HOST: '10.0.0.5', BASE_URL: 'http://10.0.0.5:8787/' }, false],
    [{ TRUST_PROXY: 'loopback' }, true],
    [{ BASE_URL: 'https://q.example' }, true],
    [{ HOST: '10.0.0.5', BASE_URL: 'https://10.0.0.5' }, true],
  ])('%j: behind a proxy %s', (env, isBehindProxy) => {
    expect(loadConfig(env)).toMatchObject({ isBehindProxy });
  });

  it('never repeats a secret', () => {
    expect(() => loadConfig({ DATABASE_URL: 'mysql://user:hunter2@host' })).not.toThrow(/hunter2/);
    expect(() => loadConfig({ SECRETS_KEY: 'hunter2' })).not.toThrow(/hunter2/);
  });
});
