// The identity providers of the settings, by id. Their package is loaded only where there is one.
import type { IdentityProviderSettings } from './config/identity-providers.ts';
import type { OutboundClient } from './vendors/http/port.ts';
import type { IdentityProvider } from './vendors/identity/port.ts';

export async function openIdentityProviders(
  list: readonly IdentityProviderSettings[],
  outbound: Pick<OutboundClient, 'send'>,
): Promise<ReadonlyMap<string, IdentityProvider>> {
  if (list.length === 0) return new Map();
  const [{ oidcProvider }, { oauth2Provider }] = await Promise.all([
    import('./vendors/identity/oidc.ts'),
    import('./vendors/identity/oauth2.ts'),
  ]);
  const open = (settings: IdentityProviderSettings) =>
    settings.type === 'oidc' ? oidcProvider(settings, outbound) : oauth2Provider(settings, outbound);
  return new Map(list.map((settings) => [settings.id, open(settings)]));
}
