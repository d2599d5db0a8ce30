// Routes of the service that belong to no module: pages for payers, sign-in, and approval of calls and devices, and endpoints that providers call. Each
// entry creates its routes from the started service.

import type { RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { consoleRoutes } from '../console/routes.ts';
import { mcpRoutes } from '../mcp/routes.ts';
import { fileRoutes } from '../raw/files.ts';
import { oauthRoutes } from '../raw/oauth.ts';
import { paymentWebhooks } from '../raw/payment-webhooks.ts';
import { approveRoutes } from './approve/routes.ts';
import { authRoutes } from './auth/routes.ts';
import { deviceRoutes } from './device/routes.ts';
import { withNewToken } from './new-token.ts';
import { withOwnHost } from './own-host.ts';
import { payRoutes } from './pay/routes.ts';

type Routes = (services: () => Services, manifest: Manifest) => readonly RawRoute[];

/** Pages of who is signed in. */
const pages: readonly Routes[] = [approveRoutes, authRoutes, consoleRoutes, deviceRoutes, payRoutes];

export const serviceRoutes: readonly Routes[] = [
  ...pages.map(
    (routes): Routes =>
      (services, manifest) =>
        routes(services, manifest).map((route) => withOwnHost(services, withNewToken(route))),
  ),
  fileRoutes,
  mcpRoutes,
  oauthRoutes,
  paymentWebhooks,
];
