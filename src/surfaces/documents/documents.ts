// Every public document of the service: static, served without a key.
import type { Manifest } from '../../manifest/manifest.ts';
import { apiVersion, serviceName } from '../../manifest/version.ts';
import { renderDocs } from './docs/docs.ts';
import { docsStyle } from './docs/style.ts';
import { renderLlms } from './llms.ts';
import { renderOpenapi, type SurfaceOptions } from './openapi/openapi.ts';
import { renderWellKnown, wellKnownPath } from './well-known.ts';

export interface PublicDocument {
  readonly contentType: string;
  /** The whole text. */
  readonly render: () => string;
  /** Path of the document that browsers get in its place. */
  readonly page?: string;
}

/** Headers for every public document: the pages hold no script and load nothing from elsewhere. */
export const publicDocumentHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'public, max-age=300',
};

/** Path to document. `baseUrl` is the root of every URL in them, without a trailing slash. */
export function publicDocuments(manifest: Manifest, options: SurfaceOptions): Map<string, PublicDocument> {
  return new Map<string, PublicDocument>([
    ['/', { ...jsonOf(() => renderRoot(manifest, options)), page: '/docs' }],
    ['/v1/openapi.json', jsonOf(() => renderOpenapi(manifest, options))],
    [wellKnownPath, jsonOf(() => renderWellKnown(manifest, options))],
    ['/llms.txt', { contentType: 'text/plain; charset=utf-8', render: () => renderLlms(manifest, options) }],
    ['/docs/style.css', { contentType: 'text/css; charset=utf-8', render: () => docsStyle }],
    ...[...renderDocs(manifest, options)].map(([path, render]): [string, PublicDocument] => [
      path,
      { contentType: 'text/html; charset=utf-8', render },
    ]),
  ]);
}

function jsonOf(render: () => object): PublicDocument {
  return { contentType: 'application/json; charset=utf-8', render: () => JSON.stringify(render()) };
}

// GET /: where everything else is, for a program that knows only the address. Browsers get the documentation there.

function renderRoot({ modules }: Manifest, { baseUrl }: SurfaceOptions): object {
  // Their paths hold `{name}` parameters (RFC 6570).
  const [page] = modules.flatMap(({ pages = [] }) => pages);
  return {
    service: serviceName,
    api_version: apiVersion,
    links: {
      llms: `${baseUrl}/llms.txt`,
      docs: `${baseUrl}/docs`,
      openapi: `${baseUrl}/v1/openapi.json`,
      discovery: `${baseUrl}/v1/discovery`,
      manifest: `${baseUrl}${wellKnownPath}`,
      ...(page === undefined ? {} : { console: `${baseUrl}${page.path}` }),
    },
  };
}
