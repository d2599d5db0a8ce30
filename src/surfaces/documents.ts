// Every public document of the service: static, served without a key, rendered when first asked for and then kept.
import type { Manifest } from '../manifest/manifest.ts';
import { renderDocs } from './docs.ts';
import { docsStyle } from './docs-style.ts';
import { renderLlms } from './llms.ts';
import { renderOpenapi, type SurfaceOptions } from './openapi.ts';
import { renderWellKnown, wellKnownPath } from './well-known.ts';

export interface PublicDocument {
  readonly contentType: string;
  /** The whole text; the first reading renders it. */
  readonly body: string;
}

/** Headers for every public document: the pages hold no script and load nothing from elsewhere. */
export const publicDocumentHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'public, max-age=300',
};

const json = 'application/json; charset=utf-8';
const page = 'text/html; charset=utf-8';

/** Path to document. `baseUrl` is the root of every URL in them, without a trailing slash. */
export function publicDocuments(manifest: Manifest, options: SurfaceOptions): Map<string, PublicDocument> {
  return new Map([
    ['/v1/openapi.json', lazily(json, () => JSON.stringify(renderOpenapi(manifest, options)))],
    [wellKnownPath, lazily(json, () => JSON.stringify(renderWellKnown(manifest, options)))],
    ['/llms.txt', lazily('text/plain; charset=utf-8', () => renderLlms(manifest, options))],
    ['/docs/style.css', lazily('text/css; charset=utf-8', () => docsStyle)],
    ...[...renderDocs(manifest, options)].map(([path, render]): [string, PublicDocument] => [
      path,
      lazily(page, render),
    ]),
  ]);
}

function lazily(contentType: string, render: () => string): PublicDocument {
  let rendered: string | undefined;
  return {
    contentType,
    get body() {
      rendered ??= render();
      return rendered;
    },
  };
}
