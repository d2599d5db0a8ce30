// Every public document of the service: static, served without a key.
import type { Manifest } from '../../manifest/manifest.ts';
import { apiVersion, serviceName } from '../../manifest/version.ts';
import { iconSvg } from '../pages/icon.ts';
import { docsPages } from './docs/docs.ts';
import { linkRoot, renderHtml } from './docs/html-page.ts';
import { renderMarkdown } from './docs/markdown-page.ts';
import { docsStyle } from './docs/style.ts';
import { renderLlms, renderLlmsFull, shownModules } from './llms/llms.ts';
import { renderModule } from './llms/module.ts';
import { renderOpenapi, type SurfaceOptions } from './openapi/openapi.ts';
import { modulesAsked, openapiParts } from './openapi/part.ts';
import { renderWellKnown, wellKnownPath } from './well-known.ts';

export interface PublicDocument {
  readonly contentType: string;
  /** The whole text. */
  readonly render: () => string;
  /** Path of the document that browsers get in its place. */
  readonly page?: string;
  /** Path of the same in markdown, which whoever accepts that gets in its place. */
  readonly markdown?: string;
  /** The part that a query asks for, under a name of its own; null: the whole. Throws VALIDATION_FAILED. */
  readonly partOf?: (query: URLSearchParams) => DocumentPart | null;
}

export interface DocumentPart {
  readonly name: string;
  /** One of very many: it is not kept. */
  readonly isRare: boolean;
  readonly render: () => string;
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
    ['/', { ...jsonOf(() => renderRoot(options)), page: '/docs' }],
    ['/v1/openapi.json', openapiOf(manifest, options)],
    [wellKnownPath, jsonOf(() => renderWellKnown(manifest, options))],
    ['/llms.txt', plainOf(() => renderLlms(manifest, options))],
    ['/llms-full.txt', plainOf(() => renderLlmsFull(manifest, options))],
    ...shownModules(manifest).map((module): [string, PublicDocument] => [
      `/llms/${module.name}.txt`,
      plainOf(() => renderModule(manifest, module, options.baseUrl)),
    ]),
    ...['/favicon.ico', '/favicon.svg'].map((path): [string, PublicDocument] => [
      path,
      { contentType: 'image/svg+xml', render: () => iconSvg },
    ]),
    ['/docs/style.css', { contentType: 'text/css; charset=utf-8', render: () => docsStyle }],
    ...docsOf(manifest, options),
  ]);
}

/** Every page of the documentation, with its twin in markdown. */
function docsOf(manifest: Manifest, options: SurfaceOptions): [string, PublicDocument][] {
  const root = linkRoot(options.baseUrl);
  return [...docsPages(manifest, options)].flatMap(([path, pageOf]): [string, PublicDocument][] => {
    const markdown = `${path}.md`;
    const html = () => renderHtml(pageOf(), path, root);
    return [
      [path, { contentType: 'text/html; charset=utf-8', render: html, markdown }],
      [
        markdown,
        { contentType: 'text/markdown; charset=utf-8', render: () => renderMarkdown(pageOf(), options.baseUrl) },
      ],
    ];
  });
}

function openapiOf(manifest: Manifest, options: SurfaceOptions): PublicDocument {
  const whole = () => renderOpenapi(manifest, options);
  let parts: ((modules: readonly string[]) => string) | null = null;
  const partOf = (query: URLSearchParams) => {
    const modules = modulesAsked(manifest, query);
    if (modules === null) return null;
    parts ??= openapiParts(whole());
    const text = parts;
    return { name: `openapi:${modules}`, isRare: modules.length > 1, render: () => text(modules) };
  };
  return { ...jsonOf(whole), partOf };
}

function jsonOf(render: () => object): PublicDocument {
  return { contentType: 'application/json; charset=utf-8', render: () => JSON.stringify(render()) };
}

function plainOf(render: () => string): PublicDocument {
  return { contentType: 'text/plain; charset=utf-8', render };
}

// GET /: where everything else is, for a program that knows only the address. Browsers get the documentation there.

function renderRoot({ baseUrl }: SurfaceOptions): object {
  return {
    service: serviceName,
    api_version: apiVersion,
    links: {
      llms: `${baseUrl}/llms.txt`,
      docs: `${baseUrl}/docs`,
      openapi: `${baseUrl}/v1/openapi.json`,
      discovery: `${baseUrl}/v1/discovery`,
      manifest: `${baseUrl}${wellKnownPath}`,
      console: `${baseUrl}/console`,
    },
  };
}
