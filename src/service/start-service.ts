// Composition root: config -> running service. No side effects on import.
// Order at start: bind the port (a second service on it must fail before touching data), then the database, then answer.
import { hostname } from 'node:os';
import { RuleSets } from '../approvals/rules.ts';
import { BlockThreads } from '../blocks/threads.ts';
import type { Config } from '../config/config.ts';
import { readVendorsText } from '../config/vendors-text.ts';
import { AccountPlaces } from '../core/account-places.ts';
import { type Admission, admission } from '../core/admission.ts';
import type { JobLoop } from '../core/background/job-loop.ts';
import { Sweeper } from '../core/background/sweeper/sweeper.ts';
import { knownScopesOf } from '../core/callers/scopes.ts';
import { clockNow } from '../core/database-clock.ts';
import { hearSiblings } from '../core/hear-siblings.ts';
import { lastUsedSweep } from '../core/keys/last-used.ts';
import { KeyRing } from '../core/keys/ring.ts';
import { ensureOperator } from '../core/operator/first-start.ts';
import { linkOnThisMachine } from '../core/operator/link.ts';
import { LongCalls } from '../core/outbound/long-calls.ts';
import { OwnCalls } from '../core/own-calls.ts';
import type { Logger } from '../core/process/logger.ts';
import type { Metric } from '../core/process/metric.ts';
import { ProcessRegistry } from '../core/process/processes.ts';
import { noSiblings, type Siblings } from '../core/process/siblings.ts';
import { switchTestClock } from '../core/process/test-clock.ts';
import { type UnderWay, UnderWayHere } from '../core/process/under-way.ts';
import { RequestLog } from '../core/requests/request-log.ts';
import { Secrets } from '../core/secrets/secrets.ts';
import { loadServerSecret, rememberServerSecret } from '../core/secrets/server-secret.ts';
import { UsageMeter } from '../core/usage/meter.ts';
import { Holds } from '../core/wallet/holds/holds.ts';
import { Lanes } from '../core/wallet/lane/lanes.ts';
import { Database } from '../db/database.ts';
import { makePartitionsAhead } from '../db/partitions.ts';
import { openStorage, type Storage, type StorageStep } from '../db/storage.ts';
import { BodyReaders } from '../gateway/bulk/readers.ts';
import { createGateway } from '../gateway/create-gateway.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { FailedLogins, type LoginFailures } from '../gateway/limits/failed-logins.ts';
import { RateLimiter, type Rates } from '../gateway/limits/rate-limiter.ts';
import { bindAlertSources } from '../kit/alert-source.ts';
import type { Module } from '../kit/module.ts';
import type { Services } from '../kit/services.ts';
import { rangesText } from '../lib/address.ts';
import { randomText } from '../lib/ids.ts';
import { settingsOf } from '../manifest/compose.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { moduleTags } from '../manifest/version.ts';
import { modules as allModules } from '../modules/index.ts';
import { DecodePlaces } from '../pictures/decode-places.ts';
import type { VendorLimits } from '../routing/limits.ts';
import { composeManifest } from '../surfaces/documents/discovery.ts';
import { listen } from '../surfaces/http/listen.ts';
import type { Homes } from '../surfaces/http/moves.ts';
import { ownPorts } from '../surfaces/http/own-ports.ts';
import { noServers, openServers } from '../surfaces/servers/open-servers.ts';
import { dueSearch } from '../upkeep/due-search.ts';
import { coreJobs, coreSweeps } from '../upkeep/sweeps.ts';
import type { VendorsFile } from '../vendors/file/port.ts';
import { BacklogGauge } from '../webhooks/deliveries/backlog.ts';
import { openAssets } from './asset-store.ts';
import { openMailServer } from './mail-server.ts';
import { openPayments } from './payment-provider.ts';
import { openPeople } from './people.ts';
import { openRendering, renderServerOf } from './rendering.ts';
import { createShell, type Shell } from './shell.ts';
import { warnOfVariables } from './start-text.ts';
import { stopService } from './stop-service.ts';
import { openOutbound } from './tracing.ts';
import { type Adapters, adaptersOf, startVendors, vendorsOf } from './vendors-file.ts';

export interface Service {
  readonly baseUrl: string;
  readonly core: Services;
  readonly gateway: Gateway;
  readonly manifest: Manifest;
  /** What the first start made: where the operator's key lies; null later. */
  readonly operator: { readonly accountId: string; readonly keyFile: string } | null;
  readonly startMs: number;
  /** A link that signs a browser in as the operator, once, within ten minutes. Null unless the base URL is this machine. */
  signInLink(): Promise<string | null>;
  /** Stops accepting, finishes what runs, flushes, stops its own PostgreSQL. Within 10 s. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly log: Logger;
  /** Further modules, such as the no-op of the benchmarks. */
  readonly extraModules?: readonly Module[];
  /** Folder of migrations, those of such modules among them. */
  readonly migrations?: string;
  /** Tests take smaller bounds. */
  readonly admission?: Admission;
  /** Of one of several processes behind one port. */
  readonly group?: ProcessGroup;
  /** Tests have others. */
  readonly onStep?: (step: StorageStep) => void;
}

/** What the processes behind one port have together. */
export interface ProcessGroup {
  /** Begins the id of each. */
  readonly name: string;
  /** Of this process, from 0. */
  readonly slot: number;
  readonly siblings: Siblings;
  readonly rates: Rates;
  readonly underWay: UnderWay;
  readonly logins: LoginFailures;
  readonly vendorLimits: VendorLimits;
  readonly homes: Homes;
  /** The text of VENDORS_FILE as the first process read it: one that is started later works with the same. */
  readonly vendorsText: string | null;
  openStorage(): Promise<Storage>;
}

/** Starts the service. Throws StartupError with one line for what an operator can mend; nothing is left running then. */
export async function startService(config: Config, options: ServiceOptions): Promise<Service> {
  const begunMs = performance.now();
  const manifest = composeManifest([...allModules, ...(options.extraModules ?? [])], {
    deployment: {
      region: config.region,
      privateTargets: rangesText(config.allowPrivateTargets),
      privateSources: rangesText(config.allowPrivateSources),
      rateLimits: config.rateLimits,
    },
    thoroughness: 'quick',
  });
  const settings = settingsOf(manifest.modules, config);
  const { log, group, admission: bounds = admission } = options;
  if ((group?.slot ?? 0) === 0) warnOfVariables(config, log);
  const adapters = adaptersOf(manifest.modules);
  const vendorsText = group === undefined ? readVendorsText(config) : group.vendorsText;
  const vendorsFile = await vendorsOf(vendorsText, config, manifest.modules, adapters);
  const siblings = group?.siblings ?? noSiblings;
  const shell = createShell(config, manifest, { log, bounds, siblings, homes: group?.homes });
  let storage: Storage | null = null;
  let inner: Inner | null = null;
  try {
    const baseUrl = group === undefined ? await listen(shell.rest, config) : config.baseUrl;
    shell.announce(baseUrl);
    storage = await (group?.openStorage() ?? openStorage(config, options));
    const started = await startInner({
      config,
      settings,
      vendorsFile,
      adapters,
      manifest,
      shell,
      storage,
      baseUrl,
      log,
      bounds,
      siblings,
      group,
    });
    inner = started;
    shell.open(started);
    // Connections are handed to whoever listens: one of several does so when it can answer.
    if (group !== undefined) await listen(shell.rest, config, true);
    const own = renderServerOf(config, started.core);
    const servers = await openServers({ ...started, own, config, isOneOfSeveral: group !== undefined });
    return {
      baseUrl,
      core: started.core,
      gateway: started.gateway,
      manifest,
      operator: started.operator,
      startMs: performance.now() - begunMs,
      signInLink: () => (config.roles.includes('web') ? linkOnThisMachine(started.core) : Promise.resolve(null)),
      stop: () => stopService({ shell, servers, inner: started, storage: storage as Storage, log }),
    };
  } catch (error) {
    if (inner !== null && storage !== null) await stopService({ shell, servers: noServers, inner, storage, log });
    else {
      await shell.rest.close();
      await storage?.stop();
    }
    throw error;
  }
}

interface Inner {
  readonly core: Services;
  readonly gateway: Gateway;
  readonly states: ReadonlyMap<string, unknown>;
  readonly modules: readonly Module[];
  readonly sweeper: Sweeper;
  readonly jobs: readonly JobLoop[];
  readonly metrics: () => readonly Metric[];
  readonly operator: Service['operator'];
  readonly storage: Storage;
}

interface InnerOptions {
  readonly config: Config;
  readonly settings: ReadonlyMap<string, unknown>;
  readonly vendorsFile: VendorsFile;
  readonly adapters: Adapters;
  readonly manifest: Manifest;
  readonly shell: Shell;
  readonly storage: Storage;
  readonly baseUrl: string;
  readonly log: Logger;
  readonly bounds: Admission;
  readonly siblings: Siblings;
  readonly group: ProcessGroup | undefined;
}

function openDatabase({ storage, bounds, siblings, log }: InnerOptions): Database {
  const { databaseConnections, distributedCommits } = bounds.all;
  return new Database({
    connection: storage.connection,
    distributed: storage.distributed,
    hotConnections: databaseConnections + (storage.distributed ? distributedCommits : 0),
    connections: databaseConnections,
    onIdleError: (error) => log.warn({ err: error }, 'database connection failed'),
    onHint: (topic) => siblings.tell('hint', topic),
  });
}

async function startInner(options: InnerOptions): Promise<Inner> {
  const { config, settings, manifest, shell, storage, baseUrl, log, bounds, siblings, group } = options;
  const db = openDatabase(options);
  const secrets = new Secrets(await loadServerSecret(config));
  await rememberServerSecret(db, secrets);
  const processId = `${group?.name ?? hostname()}-${process.pid}-${randomText(6)}`;
  const states = new Map<string, unknown>();
  const { connection } = storage;
  const own = ownPorts({ server: shell.rest.server, config, connection, modules: manifest.modules, states });
  const { tracing, outbound } = await openOutbound(config, { log, processId, ownPorts: own });
  const lanes = new Lanes({ db, log, bounds, tracing });
  const core: Services = {
    db,
    connection: storage.connection,
    secrets,
    lanes,
    longCalls: new LongCalls(bounds.all),
    calls: new OwnCalls(db),
    holds: new Holds({ db, lanes, log, owner: processId, bounds }),
    keys: new KeyRing({ db, secrets }),
    knownScopes: knownScopesOf(manifest.capabilities, moduleTags),
    usage: new UsageMeter(db),
    requests: new RequestLog(db, bounds),
    prices: manifest.prices,
    eventTypes: new Map(manifest.events.map(({ type, status }) => [type, status])),
    outbound,
    tracing,
    payments: await openPayments(db, baseUrl, config.payments),
    mailServer: await openMailServer(config.people.smtp),
    ...(await openPeople(config, manifest.modules, outbound)),
    vendors: await startVendors(db, options.vendorsFile, options),
    assets: await openAssets(config.assets, outbound, { db, log, secrets }),
    processes: new ProcessRegistry(db, processId, config.roles, options.vendorsFile.digest, group?.name),
    log,
    baseUrl,
    siblings,
    bounds,
    limitsRates: config.rateLimits,
    decodes: new DecodePlaces(bounds.all),
    blockThreads: new BlockThreads(bounds.all),
    rendering: openRendering(config, secrets, bounds),
    nameServers: config.nameServers,
    ownNames: new Set([new URL(baseUrl).hostname]),
    region: config.region,
    cnyPerUsd: config.cnyPerUsd,
    alertSources: bindAlertSources(manifest.modules, states),
    underWay: group?.underWay ?? new UnderWayHere(),
  };
  hearSiblings(core, config.roles.includes('work'));
  await switchTestClock(db, config.testClock);
  await makePartitionsAhead(db, await clockNow(db));
  await core.processes.beat();
  const operator = await ensureOperator(core, config.dataDir);
  for (const module of manifest.modules) states.set(module.name, await module.start?.(core, settings.get(module.name)));
  const backlog = new BacklogGauge(db);
  const { sweeper, jobs } = startBackground(options, core, states, backlog);
  const gateway = createGateway({
    core,
    ...shell.forGateway(),
    limiter: config.rateLimits ? (group?.rates ?? new RateLimiter()) : null,
    failedLogins: group?.logins ?? new FailedLogins(),
    wrongSignatures: new FailedLogins(),
    bodies: new BodyReaders({ bounds }),
    inflating: new AccountPlaces(bounds.all.inflationsAtOnce, { alone: 'all' }),
    ruleSets: new RuleSets(),
  });
  const metrics = () => [
    ...[sweeper, ...jobs, backlog, core.longCalls, core.vendors, ...(tracing === null ? [] : [tracing])].flatMap(
      (each) => each.metrics(),
    ),
    ...manifest.modules.flatMap((module) => module.metrics?.(states.get(module.name)) ?? []),
  ];
  return { core, gateway, states, modules: manifest.modules, sweeper, jobs, metrics, operator, storage };
}

function startBackground(
  { config, manifest }: InnerOptions,
  core: Services,
  states: Inner['states'],
  backlog: BacklogGauge,
): Pick<Inner, 'sweeper' | 'jobs'> {
  const { modules } = manifest;
  const jobs = [...coreJobs(core), ...modules.flatMap(({ name, jobs: of }) => of?.(states.get(name)) ?? [])];
  const ofModules = modules.flatMap(({ name, sweeps: of }) => of?.(states.get(name)) ?? []);
  const all = [...coreSweeps(core, config.ledgerDays), lastUsedSweep(core), backlog.sweep(), ...ofModules];
  const hasJobs = config.roles.includes('work');
  const sweeps = hasJobs ? [...all, dueSearch(core.db, jobs)] : all.filter((sweep) => sweep.perProcess);
  const sweeper = new Sweeper({ core, sweeps });
  sweeper.start();
  if (hasJobs) for (const loop of jobs) loop.start();
  return { sweeper, jobs };
}
