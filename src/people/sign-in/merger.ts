// Preview of an account merge: both accounts, the keys that can spend the credit afterwards, and the other people of the account that stays.
// The person agrees to exactly that: if anything has changed meanwhile, they are asked again.
import { createHash } from 'node:crypto';
import { type Account, findAccount } from '../../core/accounts/accounts.ts';
import { listKeys, type StoredKey } from '../../core/keys/store.ts';
import type { Queryable } from '../../db/database.ts';
import type { IsEmpty } from '../absorbing/absorb.ts';
import { findByIdentity, type Identity, type Member, membershipsOf, membersOf } from '../persons.ts';

export interface Merger {
  readonly into: Account;
  /** Accounts that the other identity alone has, and that are empty. At least one. */
  readonly from: readonly Account[];
  /** Live ones of all these accounts: all are the keys of `into` afterwards. */
  readonly keys: readonly StoredKey[];
  /** Who else has `into`. */
  readonly people: readonly Member[];
  /** Of all that is shown. */
  readonly digest: string;
}

/** What linking the identity would merge into the account; null: nothing. */
export async function mergerOf(
  db: Queryable,
  isEmpty: IsEmpty,
  { personId, accountId }: { readonly personId: string; readonly accountId: string },
  identity: Identity,
): Promise<Merger | null> {
  const other = await findByIdentity(db, identity);
  const into = await findAccount(db, accountId);
  if (other === null || other.personId === personId || into === null) return null;
  const from: Account[] = [];
  for (const { accountId: id } of await membershipsOf(db, other.personId)) {
    const isAlone = id !== accountId && (await membersOf(db, id)).length === 1;
    const account = isAlone && (await isEmpty(db, id)) ? await findAccount(db, id) : null;
    if (account !== null) from.push(account);
  }
  if (from.length === 0) return null;
  const keys = await liveKeys(db, [into, ...from]);
  const people = (await membersOf(db, accountId)).filter((member) => member.personId !== personId);
  return { into, from, keys, people, digest: digestOf(into, from, keys, people) };
}

/** Whether the accounts have no live key but those that were shown, as they were shown. Callers hold both locked. */
export async function hasOnlyShownKeys(db: Queryable, { into, from, keys }: Merger): Promise<boolean> {
  const shown = new Set(keys.map(wordOf));
  return (await liveKeys(db, [into, ...from])).every((key) => shown.has(wordOf(key)));
}

async function liveKeys(db: Queryable, accounts: readonly Account[]): Promise<StoredKey[]> {
  const keys: StoredKey[] = [];
  for (const { accountId } of accounts) keys.push(...(await listKeys(db, accountId)));
  return keys.filter(({ status }) => status === 'active' || status === 'rotating');
}

function digestOf(
  into: Account,
  from: readonly Account[],
  keys: readonly StoredKey[],
  people: readonly Member[],
): string {
  const accounts = [into, ...from].map(({ accountId }) => accountId);
  const members = people.map(({ personId, role }) => `${personId} ${role}`);
  return createHash('sha256')
    .update(JSON.stringify([accounts, keys.map(wordOf), members]))
    .digest('base64url');
}

/** A new secret of a key makes another one of it: somebody else may have that. */
function wordOf({ keyId, scopes, last4, prefix }: StoredKey): string {
  return JSON.stringify([keyId, scopes, prefix, last4]);
}
