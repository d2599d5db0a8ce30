// Names of who did something: a key, or a person. Records keep only their ids.
import type { Callable, Visit } from './visit.ts';

/** Names by id. */
export type CallerNames = ReadonlyMap<string, string>;

const KEYS_NAMED = 100;
const keysList: Callable = { id: 'account.keys.list' };
const account: Callable = { id: 'account.get' };

interface Named {
  readonly name: string | null;
}

/** Of the newest keys and of people, as far as the visitor may see them. */
export async function readCallerNames(visit: Visit): Promise<CallerNames> {
  const [keys, people] = await Promise.all([
    visit.may(keysList) ? visit.call(keysList, { limit: KEYS_NAMED }) : null,
    visit.may(account) ? visit.call(account) : null,
  ]);
  const { items } = (keys?.data ?? { items: [] }) as {
    readonly items: readonly (Named & { readonly key_id: string })[];
  };
  const persons = (people?.data ?? { people: [] }) as {
    readonly people?: readonly (Named & { readonly person_id: string; readonly email: string | null })[];
  };
  return new Map([
    ...items.map(({ key_id: id, name }) => [id, name ?? id] as const),
    ...(persons.people ?? []).map(({ person_id: id, email, name }) => [id, email ?? name ?? id] as const),
  ]);
}

export function callerName({ personId }: Pick<Visit, 'personId'>, id: string, names: CallerNames): string {
  if (id === personId) return 'you';
  return names.get(id) ?? (id.startsWith('sess_') ? 'the operator' : id);
}
