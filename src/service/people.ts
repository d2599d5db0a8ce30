// Sign-in of the service, from the settings and the modules. The code for identity providers is loaded only where one is configured.
import type { Config } from '../config/config.ts';
import type { IdentityProviderSettings } from '../config/identity-providers.ts';
import type { Module } from '../kit/module.ts';
import type { Services } from '../kit/services.ts';
import { isEmptyIn } from '../manifest/compose.ts';
import type { OutboundClient } from '../vendors/http/port.ts';
import type { IdentityProvider } from '../vendors/identity/port.ts';

export async function openPeople(
  { people, identityProviders, signUpCreditNanos }: Config,
  modules: readonly Module[],
  outbound: Pick<OutboundClient, 'send'>,
): Promise<Pick<Services, 'signUp' | 'identityProviders' | 'signUpCreditNanos' | 'isEmptyAccount'>> {
  return {
    signUp: people.signUp,
    identityProviders: await openProviders(identityProviders, outbound),
    signUpCreditNanos,
    isEmptyAccount: (db, accountId) => isEmptyIn(modules, db, accountId),
  };
}

async function openProviders(
  list: readonly IdentityProviderSettings[],
  outbound: Pick<OutboundClient, 'send'>,
): Promise<ReadonlyMap<string, IdentityProvider>> {
  if (list.length === 0) return new Map();
  const [{ oidcProvider }, { oauth2Provider }] = await Promise.all([
    import('../vendors/identity/oidc.ts'),
    import('../vendors/identity/oauth2.ts'),
  ]);
  const open = (settings: IdentityProviderSettings) =>
    settings.type === 'oidc' ? oidcProvider(settings, outbound) : oauth2Provider(settings, outbound);
  return new Map(list.map((settings) => [settings.id, open(settings)]));
}
