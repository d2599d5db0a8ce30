// Console pages of module vault, and its current failures for the overview page.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { callsPage } from './calls.ts';
import { VAULT } from './connection.ts';
import { connectionsPage } from './connections.ts';
import { failingConnections } from './failing.ts';
import { connectionPages } from './one.ts';
import { providerPages, providersPage } from './providers.ts';

export const vaultConsole: ModuleConsole = {
  pages: [connectionsPage, callsPage, ...connectionPages, providersPage, ...providerPages],
  failing: { path: VAULT, of: failingConnections },
};
