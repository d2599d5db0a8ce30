// Who made a page to connect, when a person comes back from the provider: they must still be allowed to make one.
import { scopesAllow } from '../../../core/callers/scopes.ts';
import { findKey } from '../../../core/keys/store.ts';
import type { Queryable } from '../../../db/database.ts';
import type { Services } from '../../../kit/services.ts';
import { membersOf } from '../../../people/persons.ts';
import { scopesOfRole } from '../../../people/roles.ts';

export const START = 'vault.connect.start';

/** A key that lives, or a person of the account, with the scope. */
export async function mayStillStart(
  tx: Queryable,
  { knownScopes }: Pick<Services, 'knownScopes'>,
  { accountId, starterId }: { readonly accountId: string; readonly starterId: string },
): Promise<boolean> {
  const key = await findKey(tx, accountId, starterId);
  if (key !== null) {
    const lives = key.status === 'active' || key.status === 'rotating';
    return lives && scopesAllow(key.scopes, START, 'write');
  }
  const person = (await membersOf(tx, accountId)).find(({ personId }) => personId === starterId);
  return person !== undefined && scopesAllow(scopesOfRole(knownScopes, person.role), START, 'write');
}
