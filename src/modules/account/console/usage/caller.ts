// Names of callers: a key, or a person who used the console. Usage and the request log give only their ids.
import type { DataOf, ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { keysList } from '../../capabilities/keys/list.ts';
import { get } from '../../capabilities/profile/get.ts';

/** Names by id. */
export type CallerNames = ReadonlyMap<string, string>;

const KEYS_NAMED = 100;
/** What free calls of the console count for whose visitor signed in with a key. */
const KEYS_IN_CONSOLE = 'console';

export type Key = ItemOf<typeof keysList>;

export interface Callers {
  readonly keys: readonly Key[];
  readonly names: CallerNames;
  /** Null: the visitor may not see it. */
  readonly account: DataOf<typeof get> | null;
}

/** The newest keys, and names of keys and people, as far as the visitor may see them. */
export async function readCallers(visit: Visit): Promise<Callers> {
  const [list, account] = await Promise.all([
    visit.may(keysList) ? visit.call(keysList, { limit: KEYS_NAMED }) : null,
    visit.may(get) ? visit.call(get) : null,
  ]);
  const keys = list?.data?.items ?? [];
  const people = (account?.data?.people ?? []).map(
    ({ person_id: id, email, name }) => [id, `${email ?? name ?? id}, in the console`] as const,
  );
  const names = new Map([...keys.map(({ key_id: id, name }) => [id, name ?? id] as const), ...people]);
  return { keys, names, account: account?.data ?? null };
}

export function callerName({ personId }: Pick<Visit, 'personId'>, id: string, names: CallerNames): string {
  if (id === personId) return 'you, in the console';
  if (id === KEYS_IN_CONSOLE) return 'keys, in the console';
  return names.get(id) ?? (id.startsWith('sess_') ? 'the operator, in the console' : id);
}
