// Header fields of mail (RFC 5322): a name, a colon, and a value that may continue on lines that begin with a space.

/** By name in lower case; several of one name in their order. */
export type Fields = ReadonlyMap<string, readonly string[]>;

const GROUPS_MAX = 102;
const FIELDS_MAX = 200;

/** The groups that blank lines part, unfolded. Beyond 102 groups, or 200 fields in one, the rest is left out. */
export function fieldGroups(text: string): Fields[] {
  const groups: Map<string, string[]>[] = [];
  let group: Map<string, string[]> | null = null;
  let [values, count]: [string[] | null, number] = [null, 0];
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') {
      [group, values, count] = [null, null, 0];
      continue;
    }
    if (/^[ \t]/.test(line)) {
      if (values !== null) values.push(`${values.pop()} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(':');
    if (colon < 1 || count >= FIELDS_MAX) {
      values = null;
      continue;
    }
    if (group === null) {
      if (groups.length === GROUPS_MAX) break;
      group = new Map();
      groups.push(group);
    }
    const name = line.slice(0, colon).trimEnd().toLowerCase();
    values = group.get(name) ?? [];
    values.push(line.slice(colon + 1).trim());
    group.set(name, values);
    count += 1;
  }
  return groups;
}
