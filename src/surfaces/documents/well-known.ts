// /.well-known/quartermaster.json: the whole manifest as one public document. An agent without a key sees every capability, its price, and
// how to call it.
import { describeCapability } from '../../manifest/describe.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { streamsOf } from '../../manifest/streams.ts';
import { apiVersion, serviceName, specVersion } from '../../manifest/version.ts';
import { moduleStatuses } from './discovery-listing.ts';
import { eventDocument } from './event-document.ts';
import type { SurfaceOptions } from './openapi/openapi.ts';

export const wellKnownPath = '/.well-known/quartermaster.json';

/** The manifest document as plain data. */
export function renderWellKnown(manifest: Manifest, { baseUrl }: SurfaceOptions): object {
  return {
    service: serviceName,
    api_version: apiVersion,
    spec_version: specVersion,
    manifest_sha256: manifest.sha256,
    base_url: `${baseUrl}/v1`,
    openapi_url: `${baseUrl}/v1/openapi.json`,
    docs_url: `${baseUrl}/docs`,
    llms_url: `${baseUrl}/llms.txt`,
    authentication: { type: 'http', scheme: 'bearer', header: 'Authorization: Bearer <API_KEY>' },
    regions: [manifest.deployment.region],
    price_version: manifest.prices.version,
    modules: moduleStatuses(manifest),
    capabilities: manifest.capabilities.map((capability) => describeCapability(capability, manifest)),
    streams: streamsOf(manifest.modules),
    errors: Object.entries(manifest.problems).map(([code, { status, retryable, title, advice }]) => ({
      code,
      http_status: status,
      retryable,
      title,
      advice,
      docs_url: `${baseUrl}/docs/errors/${code}`,
    })),
    events: manifest.events.map((event) => eventDocument(event, manifest.deployment.region)),
  };
}
