// /metrics: counters of this process, or of all processes behind the port together, in Prometheus' text format. It requires the token or,
// without one configured, a request from this machine.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  type Aggregator,
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  type MetricObject,
  Registry,
} from 'prom-client';
import type { Metric } from '../../core/process/metric.ts';
import type { Siblings } from '../../core/process/siblings.ts';
import { isLoopback } from '../../lib/loopback.ts';
import { addHostMetrics, type Host } from './host-metrics.ts';

export interface MetricsOptions {
  readonly host: Host;
  readonly registry: Registry;
  readonly metricsToken: string | undefined;
  /** Then what a proxy passes on looks like a caller of this machine. */
  readonly isBehindProxy: boolean;
  readonly metrics: () => readonly Metric[];
  readonly laneDepth: () => number;
  readonly siblings: Siblings;
}

const REFUSAL = 'metrics are for loopback, not through a proxy, or with METRICS_TOKEN as bearer token\n';
/** What proxies add, each some of them. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'];

let ofProcess: Registry | undefined;

/** What is measured of the process as a whole. Once: its timer and its observer of garbage collection end with the process. */
function processRegistry(): Registry {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  return ofProcess;
}

export function addMetrics(app: FastifyInstance, options: MetricsOptions): void {
  const { registry } = options;
  addHostMetrics(registry, options.host);
  new Gauge({
    name: 'qm_lane_depth',
    help: 'Billable calls waiting for or in a commit.',
    registers: [registry],
    collect() {
      this.set(options.laneDepth());
    },
  });
  const registries = [processRegistry(), registry];
  const tell = async () => {
    const told = await Promise.all(registries.map((each) => each.getMetricsAsJSON()));
    return [...told.flat(), ...(await metricsOf(options.metrics()))];
  };
  options.siblings.on('metrics', tell);
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request, options)) return reply.code(403).type('text/plain').send(REFUSAL);
    const [own, others] = await Promise.all([tell(), options.siblings.ask('metrics', null)]);
    const all = AggregatorRegistry.aggregate([own, ...(others as MetricObject[][])]);
    return reply.type(registry.contentType).send(await all.metrics());
  });
}

/** Of several processes values of one name and labels add up; of times, the latest or longest stands for all. */
async function metricsOf(metrics: readonly Metric[]): Promise<MetricObject[]> {
  const registry = new Registry();
  for (const [name, of] of Map.groupBy(metrics, (metric) => metric.name)) {
    const { help } = of[0] as Metric;
    const labelNames = [...new Set(of.flatMap(({ labels }) => Object.keys(labels)))];
    const aggregator: Aggregator = name.endsWith('_seconds') ? 'max' : 'sum';
    const options = { name, help, labelNames, aggregator, registers: [registry] } satisfies GaugeConfiguration<string>;
    const metric = name.endsWith('_total') ? new Counter(options) : new Gauge(options);
    for (const each of of) metric.inc(each.labels, each.value);
  }
  return registry.getMetricsAsJSON();
}

function mayRead(request: FastifyRequest, { metricsToken, isBehindProxy }: MetricsOptions): boolean {
  if (metricsToken === undefined) return !isBehindProxy && isLocal(request);
  const sent = Buffer.from(request.headers.authorization ?? '');
  const want = Buffer.from(`Bearer ${metricsToken}`);
  return sent.length === want.length && timingSafeEqual(sent, want);
}

/**
 * Loopback by the socket. Behind a proxy on this machine every call is that, so nothing may look passed on: neither a header that
 * proxies add, nor HTTP 1.0, which some of them speak, nor a Host that this machine does not call itself (a page whose name was
 * made to lead here, or the public name of a proxy that adds nothing).
 */
function isLocal({ socket, headers, host, raw }: FastifyRequest): boolean {
  const isPassedOn = Object.keys(headers).some(
    (name) => name.startsWith('x-forwarded-') || PROXY_HEADERS.includes(name),
  );
  const name = URL.parse(`http://${host ?? ''}`)?.hostname ?? '';
  return !isPassedOn && raw.httpVersion !== '1.0' && isLoopback(socket.remoteAddress ?? '') && isLoopback(name);
}
