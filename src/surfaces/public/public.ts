// Routes that need no key: the documents derived from the manifest, health, and metrics.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Manifest } from '../../manifest/manifest.ts';
import { problem } from '../../problems/problem.ts';
import { preferencesOf, type Theme } from '../console/preferences.ts';
import {
  docsPagePolicy,
  inTheme,
  type PublicDocument,
  publicDocumentHeaders,
  publicDocuments,
  renderMissingPage,
} from '../documents/documents.ts';
import { addMetrics, type MetricsOptions } from './metrics.ts';
import { encodingFor, isUnchanged, type Prepared, prefersMarkdown, prefersPage, prepare } from './prepared.ts';

export interface PublicOptions extends MetricsOptions {
  readonly manifest: Manifest;
  /** Known once the port is bound. */
  readonly baseUrl: () => string;
  /** Until then documents are answered with 503. */
  readonly hasStarted: () => boolean;
  /** Whatever goes wrong with asking, it is not. */
  readonly isReady: () => Promise<boolean>;
}

/** Calls wait for a database that restarts; whoever asks whether we are ready wants to know now. */
const READY_WITHIN_MS = 1_000;
const RETRY_AFTER_MS = 1_000;
const PAGES = '/docs/';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What a route with an open end takes; absent: its url. */
    readonly paths?: readonly string[];
    /** Whether its requests may become WebSockets. */
    readonly takesSockets?: boolean;
  }
}

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

/**
 * Each document is rendered, tagged and compressed when it is first asked for, and then kept; but not a part that few ask for. Pages of the
 * documentation share a route: hundreds of routes take a tenth of a second to add.
 */
function addDocuments(app: FastifyInstance, { manifest, baseUrl, hasStarted }: PublicOptions): void {
  let documents: Map<string, PublicDocument> | null = null;
  const kept = new Map<string, Prepared>();
  const answer = async (asked: string, { headers, query }: FastifyRequest, reply: FastifyReply) => {
    if (!hasStarted())
      throw problem('SERVICE_UNAVAILABLE', { retryAfterMs: RETRY_AFTER_MS, message: 'The service is starting.' });
    documents ??= publicDocuments(manifest, { baseUrl: baseUrl() });
    if (!documents.has(asked)) {
      if (!asked.startsWith(PAGES) || !prefersPage(headers.accept)) return reply.callNotFound();
      const page = renderMissingPage(manifest, asked, { baseUrl: baseUrl() });
      void reply.code(404).headers({ ...headersWith(docsPagePolicy), 'cache-control': 'no-store', vary: 'Accept' });
      return reply.type('text/html; charset=utf-8').send(page);
    }
    const path = inFormOf(documents, asked, headers.accept);
    const { contentType, render, partOf, policy } = documents.get(path) as PublicDocument;
    const theme = themeOf(documents.get(path) as PublicDocument, headers);
    const part = partOf?.(query as URLSearchParams) ?? null;
    const prepared =
      part?.isRare === true
        ? prepare(part.render())
        : theme === 'system'
          ? prepareOnce(kept, part?.name ?? path, part?.render ?? render)
          : prepareOnce(kept, `${path}#${theme}`, () => inTheme(render(), theme));
    const { etag } = prepared;
    void reply.headers({ ...headersWith(policy), etag, vary: varyOf(documents.get(asked) as PublicDocument) });
    // What a cookie chose is for its reader alone.
    if (theme !== 'system') void reply.header('cache-control', 'private, no-cache');
    if (isUnchanged(headers['if-none-match'], etag)) return reply.code(304).send();
    // A part that few ask for is not kept, and compressing it takes long.
    const encoding = part?.isRare === true ? 'identity' : encodingFor(headers['accept-encoding']);
    if (encoding !== 'identity') void reply.header('content-encoding', encoding);
    return reply.type(contentType).send(await prepared.encodedBody(encoding));
  };
  // The paths do not depend on the base URL; the texts do.
  const all = [...publicDocuments(manifest, { baseUrl: baseUrl() }).keys()];
  const paths = all.filter((path) => path.startsWith(PAGES));
  for (const path of all) if (!path.startsWith(PAGES)) app.get(path, (request, reply) => answer(path, request, reply));
  app.get<{ Params: { '*': string } }>(`${PAGES}*`, { config: { paths } }, (request, reply) =>
    answer(`${PAGES}${request.params['*']}`, request, reply),
  );
}

/** Of a page of the documentation; all other documents have no colors. */
function themeOf({ markdown }: PublicDocument, headers: FastifyRequest['headers']): Theme {
  return markdown === undefined ? 'system' : preferencesOf({ headers }).theme;
}

/** `policy`: what a browser may do in it, where that is more than show it. */
function headersWith(policy: string | undefined): Readonly<Record<string, string>> {
  return { ...publicDocumentHeaders, ...(policy === undefined ? {} : { 'Content-Security-Policy': policy }) };
}

function prepareOnce(kept: Map<string, Prepared>, name: string, render: () => string): Prepared {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const prepared = prepare(render());
  kept.set(name, prepared);
  return prepared;
}

function varyOf({ page, markdown }: PublicDocument): string {
  if (page === undefined && markdown === undefined) return 'Accept-Encoding';
  return 'Accept, Cookie, Accept-Encoding';
}

/** The path of the document in the form that the client accepts most. */
function inFormOf(documents: ReadonlyMap<string, PublicDocument>, asked: string, accept: string | undefined): string {
  const { page } = documents.get(asked) as PublicDocument;
  const path = page !== undefined && prefersPage(accept) ? page : asked;
  const { markdown } = documents.get(path) as PublicDocument;
  return markdown !== undefined && prefersMarkdown(accept) ? markdown : path;
}
