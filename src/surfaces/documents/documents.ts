// All public documents of the service: static, served without a key.
import { onceFor } from '../../lib/once.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { partsOf, shownModules } from '../../manifest/parts.ts';
import { apiVersion, serviceName } from '../../manifest/version.ts';
import { iconSvg } from '../pages/icon.ts';
import { assetNames, contentTypeOf, textOf } from './docs/assets/assets.ts';
import { docsPages, missingPage } from './docs/docs.ts';
import { type Frame, linkRoot, renderHtml } from './docs/html-page.ts';
import { renderMarkdown } from './docs/markdown-page.ts';
import { searchEntries } from './docs/search-entries.ts';
import { sidebarOf } from './docs/sidebar.ts';
import { renderLlms, renderLlmsFull } from './llms/llms.ts';
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
  /** What a browser may do in it (CSP), when that is more than show it. */
  readonly policy?: string;
  /** The part that a query asks for, under a name of its own; null: the whole. Throws VALIDATION_FAILED. */
  readonly partOf?: (query: URLSearchParams) => DocumentPart | null;
}

export interface DocumentPart {
  readonly name: string;
  /** One of very many: it is not kept. */
  readonly isRare: boolean;
  readonly render: () => string;
}

/** Headers for every public document: it holds no script and loads nothing from elsewhere. */
export const publicDocumentHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'public, max-age=300',
};

/** Pages of the documentation have scripts of this service alone. The only HTML that they write is a form of the console. */
export const docsPagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types qm',
].join('; ');

/** Path to document. `baseUrl` is the root of every URL in them, without a trailing slash. */
export function publicDocuments(manifest: Manifest, options: SurfaceOptions): Map<string, PublicDocument> {
  return new Map<string, PublicDocument>([
    ['/', { ...jsonOf(() => renderRoot(options)), page: '/docs' }],
    ['/v1/openapi.json', openapiOf(manifest, options)],
    [wellKnownPath, jsonOf(() => renderWellKnown(manifest, options))],
    ['/llms.txt', plainOf(() => renderLlms(manifest, options))],
    ['/llms-full.txt', plainOf(() => renderLlmsFull(manifest, options))],
    ...shownModules(manifest)
      .flatMap(partsOf)
      .map((part): [string, PublicDocument] => [
        `/llms/${part.name}.txt`,
        plainOf(() => renderModule(manifest, part, options.baseUrl)),
      ]),
    ...['/favicon.ico', '/favicon.svg'].map((path): [string, PublicDocument] => [
      path,
      { contentType: 'image/svg+xml', render: () => iconSvg },
    ]),
    ...assetNames.map((name): [string, PublicDocument] => [
      `/docs/${name}`,
      { contentType: contentTypeOf(name), render: () => textOf(name) },
    ]),
    ['/docs/search.json', jsonOf(() => searchEntries(manifest))],
    ...docsOf(manifest, options),
  ]);
}

/** Every page of the documentation, with its twin in markdown. */
function docsOf(manifest: Manifest, options: SurfaceOptions): [string, PublicDocument][] {
  return [...docsPages(manifest, options)].flatMap(([path, pageOf]): [string, PublicDocument][] => {
    const markdown = `${path}.md`;
    const render = () => renderHtml(pageOf(), path, frameOf(manifest, options));
    return [
      [path, { contentType: 'text/html; charset=utf-8', render, markdown, policy: docsPagePolicy }],
      [
        markdown,
        { contentType: 'text/markdown; charset=utf-8', render: () => renderMarkdown(pageOf(), options.baseUrl) },
      ],
    ];
  });
}

/** The page in the colors that the reader chose in the console. */
export function inTheme(page: string, theme: 'light' | 'dark'): string {
  return page
    .replace('<html lang="en">', `<html lang="en" data-theme="${theme}">`)
    .replace('<meta name="color-scheme" content="light dark">', `<meta name="color-scheme" content="${theme}">`);
}

/** What browsers get in place of a page of the documentation that does not exist. */
export function renderMissingPage(manifest: Manifest, path: string, options: SurfaceOptions): string {
  return renderHtml(missingPage(manifest, path), null, frameOf(manifest, options));
}

const sidebars = onceFor((manifest: Manifest) => sidebarOf(manifest));

function frameOf(manifest: Manifest, { baseUrl }: SurfaceOptions): Frame {
  return { root: linkRoot(baseUrl), sidebar: sidebars(manifest) };
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
