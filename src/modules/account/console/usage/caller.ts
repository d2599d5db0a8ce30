// Who spent, by name: a key, or a person who used the console, whom usage tells by their id.
import type { Visit } from '../../../../kit/console/visit.ts';

/** The name of a caller of `account.usage`; `keys`: names of keys by their ids. */
export function callerName({ personId }: Visit, id: string, keys: ReadonlyMap<string, string>): string {
  return keys.get(id) ?? (id === personId ? 'you, in the console' : id);
}
