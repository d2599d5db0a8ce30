// Servers of OAuth that connections are made with. The client secret is encrypted with account, name, client, addresses and auth: a row whose
// addresses were changed opens nothing.
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { resourceTable, rowSaver } from '../../../kit/resource.ts';
import type { CallContext } from '../../../kit/services.ts';
import { iso } from '../../../lib/time.ts';
import type { ClientAuth, TokenSource } from '../connections/credential.ts';
import { PROVIDERS_MAX } from '../limits.ts';
import { problem } from '../problems.ts';
import { providerField, providerSchema } from '../schemas.ts';

export interface ProviderRow {
  readonly provider: string;
  readonly issuer: string | null;
  readonly authorization_url: string;
  readonly token_url: string;
  readonly names_itself: boolean;
  readonly client_id: string;
  readonly client_secret: Buffer | null;
  readonly scopes: string;
  readonly auth: ClientAuth;
  readonly created_at: number;
  readonly updated_at: number;
}

const shape = {
  table: 'vault.provider',
  key: 'provider',
  columns:
    'provider, issuer, authorization_url, token_url, names_itself, client_id, client_secret, scopes, auth, created_at, updated_at',
};
export const providerTable = resourceTable<ProviderRow>(shape);
export const saveProvider = rowSaver<ProviderRow>(shape);

export const providerLimits = {
  vault_providers: {
    description: 'OAuth providers of the vault.',
    used: providerTable.count,
    standard: PROVIDERS_MAX,
    pro: PROVIDERS_MAX,
    enterprise: PROVIDERS_MAX,
  },
};

export const CALLBACK_PATH = '/connect/callback';

export function providerRecord({ baseUrl }: { readonly baseUrl: string }, row: ProviderRow) {
  const { provider, issuer, authorization_url, token_url, client_id, auth } = row;
  return {
    provider,
    issuer,
    authorization_url,
    token_url,
    client_id,
    scopes: JSON.parse(row.scopes) as string[],
    auth,
    redirect_uri: `${baseUrl}${CALLBACK_PATH}`,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

export const providers = {
  ...providerTable,
  noun: 'provider',
  keyName: 'provider',
  keyField: providerField,
  output: providerSchema,
  show: (row: ProviderRow, { ctx }: { readonly ctx: CallContext }) => providerRecord(ctx.core, row),
  notFound: () =>
    problem('NOT_FOUND', {
      param: 'provider',
      message: 'There is no provider of this name. vault.provider.list has them.',
    }),
};

const LABEL = 'vault-provider';

type Sealed = Pick<ProviderRow, 'provider' | 'client_id' | 'authorization_url' | 'token_url' | 'auth'>;

export function sealClientSecret(secrets: Secrets, accountId: string, row: Sealed, clientSecret: string): Buffer {
  return secrets.encrypt(LABEL, saltOf(accountId, row), clientSecret);
}

/** Where its tokens come from. Throws where the row is not the one that was sealed. */
export function sourceOf(secrets: Secrets, accountId: string, row: ProviderRow): TokenSource {
  const { token_url: tokenUrl, client_id: clientId, client_secret: sealed, auth } = row;
  const clientSecret = sealed === null ? null : secrets.decrypt(LABEL, saltOf(accountId, row), sealed);
  return { tokenUrl, clientId, clientSecret, auth, scopes: JSON.parse(row.scopes) };
}

function saltOf(accountId: string, { provider, client_id, authorization_url, token_url, auth }: Sealed): string {
  return JSON.stringify([accountId, provider, client_id, authorization_url, token_url, auth]);
}
