// Names of keys and people on the pages of approvals, as far as the visitor may see them.
import type { DataOf, ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { keysList } from '../../capabilities/keys/list.ts';
import { get } from '../../capabilities/profile/get.ts';

const KEYS_NAMED = 100;

type Key = ItemOf<typeof keysList>;
type Person = DataOf<typeof get>['people'][number];

export interface Names {
  /** The newest ones. */
  readonly keys: readonly Key[];
  readonly people: readonly Person[];
  keyName(id: string): string;
  personName(id: string): string;
}

export async function readNames(visit: Visit): Promise<Names> {
  const [list, account] = await Promise.all([
    visit.may(keysList) ? visit.call(keysList, { limit: KEYS_NAMED }) : null,
    visit.may(get) ? visit.call(get) : null,
  ]);
  const keys = list?.data?.items ?? [];
  const people = account?.data?.people ?? [];
  const named = new Map([
    ...keys.map(({ key_id: id, name }) => [id, name ?? id] as const),
    ...people.map((person) => [person.person_id, nameOf(person)] as const),
  ]);
  return {
    keys,
    people,
    keyName: (id) => named.get(id) ?? id,
    personName: (id) => (id === visit.personId ? 'you' : (named.get(id) ?? id)),
  };
}

export function nameOf({ person_id: id, name, email }: Person): string {
  return name ?? email ?? id;
}

/** Who decides. `approvers`: ids of people; null: the owners. */
export function approversText(approvers: readonly string[] | null, { personName }: Pick<Names, 'personName'>): string {
  return approvers === null ? 'the owners of the account' : approvers.map(personName).join(', ');
}
