// Recipients that this service receives mail for: bounces of its own mail, and inboxes. All others are refused, so it is no open relay.
import type { Queryable } from '../../../db/database.ts';
import { domainOf, readAddress } from '../addresses.ts';
import { domainStanding } from '../domains/may-send.ts';
import { type InboxRef, inboxesOf } from '../inboxes/inboxes.ts';
import type { Receiving } from './receiving.ts';

export type Recipient =
  | { readonly kind: 'inbox'; readonly address: string; readonly inbox: InboxRef }
  | { readonly kind: 'bounce'; readonly address: string };

/**
 * Null: none of ours. An address is taken as it stands: routes (`@a:b@c`), `b%c@a` and quoted names are other addresses, which nobody has.
 */
export async function recipientOf(
  { core, settings, bounces }: Pick<Receiving, 'settings' | 'bounces'> & { readonly core: { readonly db: Queryable } },
  text: string,
): Promise<Recipient | null> {
  const read = readAddress(text);
  if (read === null) return null;
  if (domainOf(read) === settings.bounceDomain) {
    return bounces.isOurs(read) ? { kind: 'bounce', address: read } : null;
  }
  const address = read.toLowerCase();
  const inbox = (await inboxesOf(core.db, [address])).get(address);
  if (inbox === undefined) return null;
  return (await mayReceive(core.db, inbox.accountId, domainOf(address))) ? { kind: 'inbox', address, inbox } : null;
}

/**
 * The account has proved the domain, or it is a reserved name, which no mail from outside is addressed to. That the operator trusts a domain for
 * sending is not enough: whoever receives its mail could pass for its owner.
 */
export async function mayReceive(db: Queryable, accountId: string, domain: string): Promise<boolean> {
  return (await domainStanding(db, accountId, domain, { trustedDomains: [] })) !== 'unverified';
}
