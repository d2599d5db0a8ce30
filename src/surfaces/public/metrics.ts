// /metrics: what the process, or all behind the port together, count, in Prometheus' text format, for whoever has the token or, without one, for this machine alone.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AggregatorRegistry, collectDefaultMetrics, Gauge, type MetricObject, type Registry } from 'prom-client';
import type { Figure } from '../../core/process/metric.ts';
import type { Siblings } from '../../core/process/siblings.ts';
import { isLoopback } from '../../lib/loopback.ts';

export interface MetricsOptions {
  readonly registry: Registry;
  readonly metricsToken: string | undefined;
  /** Then what a proxy passes on looks like a caller of this machine. */
  readonly isBehindProxy: boolean;
  readonly gauges: () => readonly Figure[];
  readonly laneDepth: () => number;
  readonly siblings: Siblings;
}

/** Of one process. */
interface Told {
  readonly metrics: MetricObject[];
  readonly figures: readonly Figure[];
}

const REFUSAL = 'metrics are for loopback, not through a proxy, or with METRICS_TOKEN as bearer token\n';
/** What proxies add, each some of them. */
const PROXY_HEADERS = ['forwarded', 'via', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'cf-connecting-ip'];

export function addMetrics(app: FastifyInstance, options: MetricsOptions): void {
  const { registry } = options;
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'qm_lane_depth',
    help: 'Billable calls waiting for or in a commit.',
    registers: [registry],
    collect() {
      this.set(options.laneDepth());
    },
  });
  const tell = async (): Promise<Told> => ({ metrics: await registry.getMetricsAsJSON(), figures: options.gauges() });
  options.siblings.on('metrics', tell);
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request, options)) return reply.code(403).type('text/plain').send(REFUSAL);
    const [own, others] = await Promise.all([tell(), options.siblings.ask('metrics', null)]);
    return reply.type(registry.contentType).send(await together([own, ...(others as Told[])]));
  });
}

async function together(all: readonly Told[]): Promise<string> {
  const sums = await AggregatorRegistry.aggregate(all.map(({ metrics }) => metrics)).metrics();
  return sums + exposition(summed(all.flatMap(({ figures }) => figures)));
}

/** Values of one name and labels add up; of times, the latest or longest stands for all. */
export function summed(figures: readonly Figure[]): Figure[] {
  const alike = Map.groupBy(figures, ({ name, labels }) => JSON.stringify([name, Object.entries(labels).sort()]));
  return [...alike.values()].map((group) => {
    const [first] = group as [Figure, ...Figure[]];
    const values = group.map(({ value }) => value);
    const value = first.name.endsWith('_seconds') ? Math.max(...values) : values.reduce((sum, each) => sum + each, 0);
    return { ...first, value };
  });
}

/** Families of lines, each below its help and type (prometheus.io/docs/instrumenting/exposition_formats). */
export function exposition(figures: readonly Figure[]): string {
  const families = Map.groupBy(figures, ({ name }) => name);
  return [...families]
    .map(([name, [first, ...others]]) => {
      const { help } = first as Figure;
      const type = name.endsWith('_total') ? 'counter' : 'gauge';
      const head = `# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}\n# TYPE ${name} ${type}\n`;
      return head + [first as Figure, ...others].map(line).join('');
    })
    .join('');
}

function line({ name, labels, value }: Figure): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${pairs.length > 0 ? `{${pairs}}` : ''} ${value}\n`;
}

function escaped(text: string): string {
  return text.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
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
