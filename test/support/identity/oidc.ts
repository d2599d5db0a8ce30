// A real OpenID Connect provider on a port of this machine, where whoever comes is `person.current`, and agrees.
import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ClientMetadata, type Configuration, Provider } from 'oidc-provider';

type Grant = InstanceType<Provider['Grant']>;

export interface Person {
  readonly sub: string;
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
}

export interface OidcServer {
  readonly issuer: string;
  /** Who signs in next. */
  person: Person;
  /** Of IDENTITY_PROVIDERS. */
  entry(id: string): Record<string, unknown>;
  stop(): Promise<void>;
}

export const CLIENT = { id: 'quartermaster', secret: 'a secret of the tests +/%:' } as const;

/**
 * @param redirectUris of the service, exactly
 * @param more of its configuration, in place of what stands here
 */
export async function startOidc(
  redirectUris: string[],
  client: Partial<ClientMetadata> = {},
  more: Configuration = {},
): Promise<OidcServer> {
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const people = new Map<string, Person>();
  const registered = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: redirectUris,
    ...client,
  };
  const provider = createProvider(issuer, people, registered, more);
  const server: OidcServer = {
    issuer,
    person: { sub: 'nobody' },
    entry: (id) => ({ id, type: 'oidc', name: id, issuer, client_id: CLIENT.id, client_secret: CLIENT.secret }),
    stop: () => closeServer(http),
  };
  const callback = provider.callback();
  http.on('request', async (req, res) => {
    if (!req.url?.startsWith('/interaction/')) return callback(req, res);
    const { person } = server;
    people.set(person.sub, person);
    await provider.interactionFinished(req, res, { login: { accountId: person.sub } });
  });
  return server;
}

function createProvider(
  issuer: string,
  people: ReadonlyMap<string, Person>,
  client: ClientMetadata,
  more: Configuration,
): Provider {
  const provider: Provider = new Provider(issuer, {
    clients: [client],
    cookies: { keys: ['a key of the tests'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    ttl: { Session: 60, Grant: 60, Interaction: 60, AccessToken: 60, IdToken: 60 },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({ ...people.get(sub), sub }),
    }),
    async loadExistingGrant({ oidc }): Promise<Grant> {
      const grant: Grant = new provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId });
      grant.addOIDCScope('openid email profile offline_access');
      await grant.save();
      return grant;
    },
    ...more,
  });
  return provider;
}

/** Also ends what is kept alive. */
export async function closeServer(http: Server): Promise<void> {
  http.closeAllConnections();
  http.close();
  await once(http, 'close');
}
