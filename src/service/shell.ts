// The HTTP server of the service, created before the database: a second service on the port fails before it touches data.
import { hostname } from 'node:os';
import type { FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import type { Config } from '../config/config.ts';
import type { Admission } from '../core/admission.ts';
import type { Logger } from '../core/process/logger.ts';
import type { Metric } from '../core/process/metric.ts';
import type { Siblings } from '../core/process/siblings.ts';
import { compileEndpoints } from '../gateway/endpoint.ts';
import { Envelope } from '../gateway/envelope.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { Refusals } from '../gateway/limits/refusals.ts';
import { Traffic } from '../gateway/limits/traffic.ts';
import type { Services } from '../kit/services.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { plannedModules } from '../manifest/planned/modules.ts';
import { Connections } from '../surfaces/http/connections.ts';
import type { Homes } from '../surfaces/http/moves.ts';
import { proxyMatcher } from '../surfaces/http/trusted-proxies.ts';
import { addPublicRoutes } from '../surfaces/public/public.ts';
import { mountedRawRoutes } from '../surfaces/raw/raw.ts';
import { OpenStreams } from '../surfaces/raw/streams.ts';
import { createRest } from '../surfaces/rest/rest.ts';
import { OpenSockets } from '../surfaces/sockets/open-sockets.ts';

const READY_WITHIN_MS = 1_000;

export interface ShellOptions {
  readonly log: Logger;
  readonly bounds: Admission;
  readonly siblings: Siblings;
  readonly homes?: Homes | undefined;
}

/** What it answers with. */
export interface Opened {
  readonly core: Services;
  readonly gateway: Gateway;
  readonly states: ReadonlyMap<string, unknown>;
  readonly metrics: () => readonly Metric[];
  readonly storage: { isUp(): boolean };
}

export interface Shell {
  readonly rest: FastifyInstance;
  announce(baseUrl: string): void;
  /** What the gateway shares with it, once the base URL is announced. */
  forGateway(): Pick<Gateway, 'endpoints' | 'envelope' | 'traffic'>;
  open(inner: Opened): void;
  /** From now on new calls are refused. */
  shut(): void;
  /** Whether calls run, or answers are not read. */
  readonly busy: () => boolean;
  endStreams(): void;
  /** Closes all WebSockets; resolves once they are. */
  closeSockets(): Promise<void>;
}

/** Answers 503 until it is opened. */
export function createShell(config: Config, manifest: Manifest, { log, bounds, siblings, homes }: ShellOptions): Shell {
  const registry = new Registry();
  const traffic = new Traffic(registry, bounds);
  const refusals = new Refusals(traffic.bounds, log);
  const streams = new OpenStreams();
  const sockets = new OpenSockets(registry, bounds);
  let inner: Opened | null = null;
  let open = false;
  let baseUrl = config.baseUrl;
  let envelope: Envelope | null = null;
  const workerId = `${hostname()}-${process.pid}`;
  const makeEnvelope = () => new Envelope({ baseUrl, region: config.region, workerId, cnyPerUsd: config.cnyPerUsd });
  const currentEnvelope = () => (envelope ??= makeEnvelope());
  const isProxy = proxyMatcher(config.trustProxy);
  const tls = config.tls && { settings: config.tls, log };
  const connections = new Connections({ traffic, refusals, envelope: currentEnvelope, isProxy, homes, tls });
  const endpoints = compileEndpoints(manifest.modules, (module) => inner?.states.get(module));
  const answers = config.roles.includes('web');
  const rest = createRest({
    endpoints: answers ? [...endpoints.values()] : [],
    rawRoutes: answers ? mountedRawRoutes(manifest, endpoints, () => (inner as Opened).core) : [],
    planned: plannedModules(manifest.modules),
    gateway: () => (open ? (inner?.gateway ?? null) : null),
    envelope: currentEnvelope,
    traffic,
    refusals,
    connections,
    streams,
    sockets,
    log,
    trustProxy: config.trustProxy,
    s3: config.s3,
  });
  addPublicRoutes(rest, {
    manifest,
    registry,
    host: { dataDir: config.dataDir, tls: config.tls },
    metricsToken: config.metricsToken,
    isBehindProxy: config.isBehindProxy,
    baseUrl: () => baseUrl,
    hasStarted: () => inner !== null,
    isReady: async () => open && inner?.storage.isUp() === true && (await inner.core.db.answersWithin(READY_WITHIN_MS)),
    metrics: () => (inner === null ? [] : inner.metrics()),
    laneDepth: () => inner?.core.lanes.depth ?? 0,
    siblings,
  });
  return {
    rest,
    announce(url) {
      baseUrl = url;
      envelope = makeEnvelope();
    },
    forGateway: () => ({ endpoints, envelope: currentEnvelope(), traffic }),
    open(started) {
      inner = started;
      open = true;
    },
    shut() {
      open = false;
    },
    endStreams: () => streams.end(),
    closeSockets: () => sockets.stop(),
    busy: () => traffic.busy,
  };
}
