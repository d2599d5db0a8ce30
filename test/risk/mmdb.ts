// Writes a database in MaxMind's format (version 2.0): a binary tree of networks over records, 24 bits a link, IPv4 below ::/96.
import ipaddr from 'ipaddr.js';

type Value = string | number | { readonly [name: string]: Value } | readonly Value[];
type Node = [left: Node | number | null, right: Node | number | null];

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
const EMPTY = 16;
const TYPES = { text: 2, uint32: 6, map: 7, array: 11 } as const;

/** `networks`: none within another. */
export function mmdb(type: string, networks: Readonly<Record<string, Value>>): Buffer {
  const root: Node = [null, null];
  const data: Buffer[] = [];
  for (const [network, value] of Object.entries(networks)) {
    const offset = Buffer.concat(data).length;
    data.push(encode(value));
    put(root, bitsOf(network), offset);
  }
  const nodes: Node[] = [root];
  for (const node of nodes) for (const side of node) if (Array.isArray(side)) nodes.push(side);
  const link = (side: Node | number | null) => {
    if (side === null) return nodes.length;
    return Array.isArray(side) ? nodes.indexOf(side) : nodes.length + EMPTY + side;
  };
  const tree = Buffer.alloc(nodes.length * 6);
  nodes.forEach(([left, right], i) => {
    tree.writeUIntBE(link(left), i * 6, 3);
    tree.writeUIntBE(link(right), i * 6 + 3, 3);
  });
  const about = {
    node_count: nodes.length,
    record_size: 24,
    ip_version: 6,
    database_type: type,
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000,
    description: {},
  };
  return Buffer.concat([tree, Buffer.alloc(EMPTY), ...data, MARKER, encode(about)]);
}

function bitsOf(network: string): string {
  const [address, bits] = ipaddr.parseCIDR(network);
  const text = address
    .toByteArray()
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('');
  return address.kind() === 'ipv4' ? '0'.repeat(96) + text.slice(0, bits) : text.slice(0, bits);
}

function put(root: Node, bits: string, value: number): void {
  let node = root;
  for (const [i, bit] of [...bits].entries()) {
    const side = Number(bit) as 0 | 1;
    if (i === bits.length - 1) node[side] = value;
    else {
      const next = node[side] ?? [null, null];
      node[side] = next;
      node = next as Node;
    }
  }
}

function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([head(TYPES.text, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([head(TYPES.uint32, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([head(TYPES.array, value.length), ...value.map(encode)]);
  const entries = Object.entries(value);
  return Buffer.concat([
    head(TYPES.map, entries.length),
    ...entries.flatMap(([name, of]) => [encode(name), encode(of)]),
  ]);
}

/** Of texts and lists of fewer than 285. */
function head(type: number, size: number): Buffer {
  const low = Math.min(size, 29);
  const first = type > 7 ? [low, type - 7] : [(type << 5) | low];
  return Buffer.from(low < 29 ? first : [...first, size - 29]);
}
