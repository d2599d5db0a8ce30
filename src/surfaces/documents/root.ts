// GET /: where everything else is, for a program that knows only the address. Browsers get the documentation there.
import type { Manifest } from '../../manifest/manifest.ts';
import { apiVersion, serviceName } from '../../manifest/version.ts';
import type { SurfaceOptions } from './openapi/openapi.ts';
import { wellKnownPath } from './well-known.ts';

export function renderRoot({ modules }: Manifest, { baseUrl }: SurfaceOptions): object {
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
