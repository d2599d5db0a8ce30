// The OpenAPI 3.1.0 description of the service, derived from the manifest (specification, "Versioning"; contract, "Discovery, OpenAPI,
// versioning").

import { releasedEvents } from '../../../kit/offer.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { streamsOf } from '../../../manifest/streams.ts';
import { specVersion } from '../../../manifest/version.ts';
import { sharedComponents } from './components.ts';
import { operationOf, streamOperationOf } from './operation.ts';
import { SchemaShelf } from './schemas.ts';
import { webhookOf } from './webhooks.ts';

export interface SurfaceOptions {
  /** Root of every URL, without a trailing slash. */
  readonly baseUrl: string;
}

const description = [
  'Online infrastructure for software agents behind one bearer key, one prepaid wallet and one bill.',
  'Every answer is an envelope: `{ ok: true, data, metadata }` or `{ ok: false, error, metadata }`; `metadata` carries cost, latency and the request id.',
  'Free calls cost nothing; billable ones deduct from the wallet and fail with 402 INSUFFICIENT_CREDIT when it cannot cover them, without any effect.',
  'Writes take an idempotency key, so every retry is safe. Lists answer `items`, `next_cursor` and `has_more`.',
].join('\n\n');

/** The whole document as plain data. Paths are relative to the one server, `{baseUrl}/v1`. */
export function renderOpenapi(manifest: Manifest, { baseUrl }: SurfaceOptions): object {
  const shared = sharedComponents(baseUrl, manifest.problems);
  const shelf = new SchemaShelf(shared.schemas);
  const paths: Record<string, Record<string, object>> = {};
  for (const capability of manifest.capabilities) {
    const path = capability.path.replace(/^\/v1/, '');
    paths[path] = {
      ...paths[path],
      [capability.method.toLowerCase()]: operationOf(capability, manifest, shelf, baseUrl),
    };
  }
  for (const stream of streamsOf(manifest.modules)) {
    const path = stream.path.replace(/^\/v1/, '');
    paths[path] = { ...paths[path], get: streamOperationOf(stream, shelf) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quartermaster: Unified Infrastructure REST API',
      version: specVersion,
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      'x-svc-manifest-sha256': manifest.sha256,
    },
    externalDocs: { description: 'Documentation', url: `${baseUrl}/docs` },
    servers: [{ url: `${baseUrl}/v1`, description: `Region: ${manifest.deployment.region}` }],
    security: [{ bearerAuth: [] }],
    tags: manifest.modules
      .filter((module) => module.capabilities.length > 0)
      .map((module) => ({ name: module.name, description: module.summary })),
    paths,
    webhooks: Object.fromEntries(
      releasedEvents(manifest).map((event) => [event.type, webhookOf(event, manifest.deployment.region, shelf)]),
    ),
    components: { ...shared, schemas: shelf.schemas() },
  };
}
