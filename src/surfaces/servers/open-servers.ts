// Servers on ports of their own, which modules bring (kit/protocol-server.ts): their ports, and the calls that their requests become.
import type { Config } from '../../config/config.ts';
import { askedWith } from '../../gateway/approvals.ts';
import type { Call } from '../../gateway/call.ts';
import type { Gateway } from '../../gateway/gateway.ts';
import { identify } from '../../gateway/identify.ts';
import { takeIdempotencyKey } from '../../gateway/input/idempotency-key.ts';
import { perform } from '../../gateway/invoke.ts';
import type { Module } from '../../kit/module.ts';
import type { ProtocolDoor, ProtocolServer } from '../../kit/protocol-server.ts';
import { problem } from '../../problems/problem.ts';
import { BACKLOG, cannotListen, REUSE_PORT } from '../http/listen.ts';

export interface OwnServer {
  readonly setting: string;
  readonly port: number;
  readonly server: ProtocolServer;
}

export interface OpenServers {
  close(): Promise<void>;
}

export const noServers: OpenServers = { close: async () => undefined };

export interface ServersOptions {
  readonly modules: readonly Module[];
  readonly states: ReadonlyMap<string, unknown>;
  readonly gateway: Gateway;
  readonly config: Pick<Config, 'host' | 'roles'>;
  /** Of the service itself, beside those of the modules. */
  readonly own: readonly OwnServer[];
  readonly isOneOfSeveral: boolean;
}

/** Listens at the ports that the settings name. Throws StartupError for one that cannot be had; then none listens. */
export async function openServers({
  modules,
  states,
  gateway,
  config,
  ...options
}: ServersOptions): Promise<OpenServers> {
  const open: ProtocolServer[] = [];
  const close = async () => void (await Promise.all(open.map((server) => server.close())));
  const reusePort = options.isOneOfSeveral && REUSE_PORT;
  const listen = async ({ setting, port, server }: OwnServer) => {
    try {
      await server.listen({ host: config.host, port, backlog: BACKLOG, reusePort });
      open.push(server);
    } catch (error) {
      await close();
      throw cannotListen(error, { host: config.host, port }, setting);
    }
  };
  for (const server of options.own) await listen(server);
  if (!config.roles.includes('web')) return { close };
  for (const { name, servers = [] } of modules) {
    for (const { setting, port: portOf, open: start } of servers) {
      const port = portOf(states.get(name));
      if (port !== null) await listen({ setting, port, server: await start(states.get(name), doorOf(gateway)) });
    }
  }
  return { close };
}

function doorOf(gateway: Gateway): ProtocolDoor {
  return {
    async identify(credential, remoteAddress) {
      const principal = await identify(gateway, credential, remoteAddress);
      if (principal.suspended) throw problem('ACCOUNT_SUSPENDED');
      return principal;
    },
    async perform({ capability, principal, input, idempotencyKey, ...asked }, work) {
      const endpoint = gateway.endpoints.get(capability);
      if (endpoint === undefined) throw new Error(`there is no capability ${capability} to be called`);
      // A connection lives longer than a request: its key may have ended.
      const now = await principal.kind.again(principal);
      if (typeof now === 'string') throw principal.kind.refusal(now);
      const { entryForm, method, path, remoteAddress, bodyBytes, signal } = asked;
      const sender = { method, path, remoteAddress, bodyBytes };
      const askOf = (call: Call) => askedWith(call, input, asked.content);
      const call = { endpoint, principal: now, signal, bodyBytes, sender, askOf, entryForm };
      return perform(gateway, call, (ctx) => {
        if (idempotencyKey !== null) takeIdempotencyKey(ctx, [idempotencyKey], () => idempotencyKey);
        return work(ctx);
      });
    },
  };
}
