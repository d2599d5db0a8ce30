// What is known of a call before its commit: everything but the counts.
import type { Static } from 'typebox';
import type { scoreFields } from '../schemas.ts';
import { type Address, addressOf, domainOf, mailboxOf, parentsOf } from './keys.ts';
import type { MailExchangers } from './mail-exchangers.ts';
import type { Networks } from './networks.ts';
import type { AddressFacts, Facts, MailFacts } from './signals.ts';

export interface Sources {
  readonly mailExchangers: MailExchangers;
  readonly networks: Networks;
}

/** Names of the library that read badly. */
const ranges: Readonly<Record<string, string>> = {
  unicast: 'public',
  uniqueLocal: 'private',
  carrierGradeNat: 'cgnat',
  linkLocal: 'link_local',
};
/** RFC 5737 and RFC 3849: the library has those of IPv4 among the reserved ones. */
const DOCUMENTATION = /^(192\.0\.2|198\.51\.100|203\.0\.113)\./;

export async function factsOf(sources: Sources, input: Static<typeof scoreFields>): Promise<Facts> {
  const { ip = null, email = null, user_id = null, device_id = null, amount_usd = null, context = null } = input;
  const [address, mail] = await Promise.all([
    ip === null ? null : addressFacts(sources.networks, addressOf(ip)),
    email === null ? null : mailFacts(sources.mailExchangers, mailboxOf(email)),
  ]);
  return {
    event: input.event,
    amount_usd,
    context: context ?? {},
    ip: address,
    email: mail,
    user: user_id === null ? null : {},
    device: device_id === null ? null : {},
  };
}

async function addressFacts(networks: Networks, address: Address): Promise<AddressFacts> {
  return { kind: addressKind(address), ...(await networks.of(address.toString())) };
}

export function addressKind(address: Address): string {
  if (DOCUMENTATION.test(address.toString())) return 'documentation';
  const range = address.range();
  if (range === 'reserved' && address.kind() === 'ipv6' && address.toString().startsWith('2001:db8:')) {
    return 'documentation';
  }
  return ranges[range] ?? range.toLowerCase();
}

async function mailFacts(exchangers: MailExchangers, mailbox: string): Promise<MailFacts> {
  const domain = domainOf(mailbox);
  const disposable = await disposableDomains();
  const isDisposable = parentsOf(domain).some((name) => disposable.has(name));
  return { is_disposable: isDisposable, has_mx: isDisposable ? null : await exchangers.of(domain) };
}

/** 50,000 names: loaded by the first call that needs them. */
async function disposableDomains(): Promise<ReadonlySet<string>> {
  return (await import('mailchecker')).default.blacklist();
}
