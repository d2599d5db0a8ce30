// What is in a heap snapshot of V8, by constructor.
import { readFileSync } from 'node:fs';

export interface HeapClass {
  readonly name: string;
  count: number;
  bytes: number;
}

interface Snapshot {
  readonly snapshot: {
    readonly meta: { readonly node_fields: string[]; readonly node_types: [string[], ...unknown[]] };
  };
  readonly nodes: number[];
  readonly strings: string[];
}

/** Objects and closures by their name, all else by its type. */
export function heapClasses(path: string): Map<string, HeapClass> {
  const { snapshot, nodes, strings } = JSON.parse(readFileSync(path, 'utf8')) as Snapshot;
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [type, name, size] = ['type', 'name', 'self_size'].map((field) => fields.indexOf(field)) as [
    number,
    number,
    number,
  ];
  const found = new Map<string, HeapClass>();
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = types[0][nodes[at + type] as number] as string;
    const isNamed = kind === 'object' || kind === 'closure' || kind === 'native';
    const shown = isNamed ? `${kind} ${(strings[nodes[at + name] as number] as string).slice(0, 60)}` : `(${kind})`;
    const known = found.get(shown) ?? { name: shown, count: 0, bytes: 0 };
    known.count += 1;
    known.bytes += nodes[at + size] as number;
    found.set(shown, known);
  }
  return found;
}

/** The classes that grew most, the largest growth first. */
export function grownClasses(before: Map<string, HeapClass>, after: Map<string, HeapClass>, most: number): HeapClass[] {
  const grown = [...after.values()].map(({ name, count, bytes }) => {
    const { count: countBefore, bytes: bytesBefore } = before.get(name) ?? { count: 0, bytes: 0 };
    return { name, count: count - countBefore, bytes: bytes - bytesBefore };
  });
  return grown.sort((a, b) => b.bytes - a.bytes).slice(0, most);
}
