// What is served without a key: the documents derived from the manifest, health, and metrics.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Manifest } from '../../manifest/manifest.ts';
import { type PublicDocument, publicDocumentHeaders, publicDocuments } from '../documents/documents.ts';
import { addMetrics, type MetricsOptions } from './metrics.ts';
import { encodingFor, isUnchanged, type Prepared, prefersMarkdown, prefersPage, prepare } from './prepared.ts';

export interface PublicOptions extends MetricsOptions {
  readonly manifest: Manifest;
  /** Known once the port is bound. */
  readonly baseUrl: () => string;
  /** Whatever goes wrong with asking, it is not. */
  readonly isReady: () => Promise<boolean>;
}

/** Calls wait for a database that restarts; whoever asks whether we are ready wants to know now. */
const READY_WITHIN_MS = 1_000;

export function addPublicRoutes(app: FastifyInstance, options: PublicOptions): void {
  addDocuments(app, options);
  app.get('/healthz', (_request, reply) => reply.send({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    const late = sleep(READY_WITHIN_MS, false, { ref: false });
    const ready = await Promise.race([options.isReady().catch(() => false), late]);
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
      const path = inFormOf(documents, asked, headers.accept);
      const { contentType, render } = documents.get(path) as PublicDocument;
      let ready = prepared.get(path);
      if (ready === undefined) {
        ready = prepare(render());
        prepared.set(path, ready);
        ready.catch(() => prepared.delete(path));
      }
      const { etag, bodies } = await ready;
      const { page, markdown } = documents.get(asked) as PublicDocument;
      const hasForms = page !== undefined || markdown !== undefined;
      const vary = hasForms ? 'Accept, Accept-Encoding' : 'Accept-Encoding';
      void reply.headers({ ...publicDocumentHeaders, etag, vary });
      if (isUnchanged(headers['if-none-match'], etag)) return reply.code(304).send();
      const encoding = encodingFor(headers['accept-encoding']);
      if (encoding !== 'identity') void reply.header('content-encoding', encoding);
      return reply.type(contentType).send(bodies[encoding]);
    });
  }
}

/** The path of the document in the form that the client accepts most. */
function inFormOf(documents: ReadonlyMap<string, PublicDocument>, asked: string, accept: string | undefined): string {
  const { page } = documents.get(asked) as PublicDocument;
  const path = page !== undefined && prefersPage(accept) ? page : asked;
  const { markdown } = documents.get(path) as PublicDocument;
  return markdown !== undefined && prefersMarkdown(accept) ? markdown : path;
}
