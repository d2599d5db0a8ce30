// Routes of modules that a console page's script calls as the visitor, below /console/wire, such as a streamed chat. The session's cookie
// alone is not enough: a request must come from a page of this service and carry the session's form token.

import type { NoPrincipal, Principal } from '../../core/callers/principal.ts';
import type { Credential } from '../../core/credentials/credential.ts';
import type { RawHead, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { withOwnHost } from './own-host.ts';
import type { VisitorServices } from './visitor.ts';

export const FORM_TOKEN_HEADER = 'x-form-token';

export function routeOfPages(services: () => Services, route: RawRoute): RawRoute {
  return withOwnHost(services, {
    ...route,
    name: `${route.name}_page`,
    path: `/console/wire${route.path}`,
    entryForm: 'console',
    credentialOf: visitorCredential,
  });
}

/** Of a request without a cookie or a token too: it is somebody unknown. */
function visitorCredential(head: RawHead): Credential {
  return { find: (core) => visitorBy(core, head) };
}

async function visitorBy(core: VisitorServices, head: RawHead): Promise<Principal | NoPrincipal> {
  const { isFormOf, visitorOf } = await import('./visitor.ts');
  const visitor = await visitorOf(core, head, { isUse: false });
  if (visitor === null) return 'unknown';
  const form = new URLSearchParams({ form_token: String(head.headers[FORM_TOKEN_HEADER] ?? '') });
  return isFormOf(core, head, form, visitor) ? (visitor.principal ?? 'unknown') : 'unknown';
}
