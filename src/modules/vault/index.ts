// The vault module: calls with credentials of other services, which nobody reads back.
import { finder } from '../../kit/finder.ts';
import { defineModule } from '../../kit/module.ts';
import { unsettledCalls } from './calls/store.ts';
import { call } from './capabilities/call.ts';
import { calls } from './capabilities/calls.ts';
import { connectStart } from './capabilities/connect/start.ts';
import { remove } from './capabilities/connection/delete.ts';
import { get } from './capabilities/connection/get.ts';
import { list } from './capabilities/connection/list.ts';
import { set } from './capabilities/connection/set.ts';
import { providerRemove } from './capabilities/provider/delete.ts';
import { providerList } from './capabilities/provider/list.ts';
import { providerSet } from './capabilities/provider/set.ts';
import { proxy } from './capabilities/proxy.ts';
import { connectionLimits, connectionTable } from './connections/store.ts';
import { callbackPage } from './connects/callback.ts';
import { connectPage } from './connects/page.ts';
import { CALL, CALL_NANOS } from './limits.ts';
import { mcpRoute } from './mcp/route.ts';
import { vaultEvents } from './oauth/broken-event.ts';
import { providerLimits, providerTable } from './oauth/provider.ts';
import { pathRoute } from './path/route.ts';
import { vaultProblems } from './problems.ts';
import { caRoute } from './proxy/ca-route.ts';
import { VaultProxyHost } from './proxy/host.ts';
import { type ProxySettings, proxySettings } from './proxy/settings.ts';
import { startVault, type VaultState } from './state.ts';
import { vaultSweeps } from './sweeps.ts';

export const vault = defineModule<VaultState, ProxySettings>({
  name: 'vault',
  summary: 'Calls to other services with credentials that agents never see.',
  status: 'beta',
  shownBy: ['vault.connection.set', 'vault.call'],
  capabilities: [
    ...[set, list, get, remove, call, calls, proxy],
    ...[providerSet, providerList, providerRemove, connectStart],
  ],
  publicPages: [connectPage, callbackPage],
  events: vaultEvents,
  finders: [finder('connection', list, ({ connection: id }) => ({ id, name: id, path: `/vault/connections/${id}` }))],
  console: async () => (await import('./console/index.ts')).vaultConsole,
  prices: { [CALL]: { unit: 'call', nanosPerUnit: CALL_NANOS } },
  limits: { ...connectionLimits, ...providerLimits },
  problems: vaultProblems,
  rawRoutes: [pathRoute, mcpRoute, caRoute],
  servers: [
    {
      setting: 'VAULT_PORT',
      port: ({ proxy: { port } }) => port,
      open: async (state, door) => {
        const { openProxy } = await import('./proxy/proxy-server.ts');
        const { core, proxy: settings } = state;
        return openProxy({ core, settings, host: new VaultProxyHost(state, door), door });
      },
    },
  ],
  settings: proxySettings,
  start: startVault,
  isEmpty: async (db, accountId) =>
    (await Promise.all([connectionTable, providerTable].map((table) => table.isEmpty(db, accountId)))).every(Boolean),
  sweeps: ({ core }) => vaultSweeps(core.db),
  jobs: ({ loops }) => loops,
  close: async ({ tokens, endings }) => void (await Promise.all([tokens.settle(), endings.waitForAll()])),
  liveWork: (db, accountId, ids) => unsettledCalls(db, accountId, ids),
});
