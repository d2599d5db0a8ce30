// What is served without a key: the documents derived from the manifest, health, and metrics for loopback or a token.
import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Manifest } from '../manifest/manifest.ts';
import { type PublicDocument, publicDocumentHeaders, publicDocuments } from './documents.ts';
import { encodingFor, isUnchanged, type Prepared, prefersPage, prepare } from './prepared.ts';

/** A figure of a background task, for /metrics. */
export interface Figure {
  readonly name: string;
  readonly help: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface PublicOptions {
  readonly manifest: Manifest;
  readonly registry: Registry;
  readonly metricsToken: string | undefined;
  /** Known once the port is bound. */
  readonly baseUrl: () => string;
  readonly isReady: () => Promise<boolean>;
  readonly gauges: () => readonly Figure[];
  readonly laneDepth: () => number;
}

export function addPublicRoutes(app: FastifyInstance, options: PublicOptions): void {
  addDocuments(app, options);
  app.get('/healthz', (_request, reply) => reply.send({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    const ready = await options.isReady();
    return reply.code(ready ? 200 : 503).send({ ok: ready });
  });
  addMetrics(app, options);
}

/** Each document is rendered, tagged and compressed when it is first asked for, and then kept. */
function addDocuments(app: FastifyInstance, { manifest, baseUrl }: PublicOptions): void {
  let documents: Map<string, PublicDocument> | null = null;
  const prepared = new Map<string, Promise<Prepared>>();
  // The paths do not depend on the base URL; the texts do.
  for (const asked of publicDocuments(manifest, { baseUrl: baseUrl() }).keys()) {
    app.get(asked, async ({ headers }, reply) => {
      documents ??= publicDocuments(manifest, { baseUrl: baseUrl() });
      const { page } = documents.get(asked) as PublicDocument;
      const path = page !== undefined && prefersPage(headers.accept) ? page : asked;
      const { contentType, render } = documents.get(path) as PublicDocument;
      let ready = prepared.get(path);
      if (ready === undefined) {
        ready = prepare(render());
        prepared.set(path, ready);
        ready.catch(() => prepared.delete(path));
      }
      const { etag, bodies } = await ready;
      const vary = page === undefined ? 'Accept-Encoding' : 'Accept, Accept-Encoding';
      void reply.headers({ ...publicDocumentHeaders, etag, vary });
      if (isUnchanged(headers['if-none-match'], etag)) return reply.code(304).send();
      const encoding = encodingFor(headers['accept-encoding']);
      if (encoding !== 'identity') void reply.header('content-encoding', encoding);
      return reply.type(contentType).send(bodies[encoding]);
    });
  }
}

function addMetrics(app: FastifyInstance, options: PublicOptions): void {
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
  app.get('/metrics', async (request, reply) => {
    if (!mayRead(request, options.metricsToken))
      return reply
        .code(403)
        .type('text/plain')
        .send('metrics are for loopback, or with METRICS_TOKEN as bearer token\n');
    const figures = options.gauges().map(line).join('');
    return reply.type(registry.contentType).send((await registry.metrics()) + figures);
  });
}

function line(figure: Figure): string {
  const labels = Object.entries(figure.labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',');
  return `${figure.name}{${labels}} ${figure.value}\n`;
}

/** Loopback by the socket, never by a header a proxy or caller could set. */
function mayRead(request: FastifyRequest, token: string | undefined): boolean {
  if (token !== undefined) {
    const sent = Buffer.from(request.headers.authorization ?? '');
    const want = Buffer.from(`Bearer ${token}`);
    return sent.length === want.length && timingSafeEqual(sent, want);
  }
  const address = request.socket.remoteAddress ?? '';
  const forwarded = request.headers['x-forwarded-for'] !== undefined || request.headers.forwarded !== undefined;
  return !forwarded && (address === '::1' || address.replace(/^::ffff:/, '').startsWith('127.'));
}
