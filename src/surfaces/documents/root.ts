// GET /: where everything else is, for a program that knows only the address. Browsers get the documentation there.
import type { Manifest } from '../../manifest/manifest.ts';
import { apiVersion, serviceName } from '../../manifest/version.ts';
import type { SurfaceOptions } from './openapi/openapi.ts';
import { wellKnownPath } from './well-known.ts';

export function renderRoot({ modules }: Manifest, { baseUrl }: SurfaceOptions): object {
  const routes = modules.flatMap(({ rawRoutes = [] }) => rawRoutes);
  // Pages for people are those of a module's console; their paths hold `{name}` parameters (RFC 6570).
  const console = routes.find(({ name }) => name.endsWith('.console'));
  return {
    service: serviceName,
    api_version: apiVersion,
    links: {
      llms: `${baseUrl}/llms.txt`,
      docs: `${baseUrl}/docs`,
      openapi: `${baseUrl}/v1/openapi.json`,
      discovery: `${baseUrl}/v1/discovery`,
      manifest: `${baseUrl}${wellKnownPath}`,
      ...(console === undefined ? {} : { console: `${baseUrl}${console.path}` }),
    },
  };
}
