// Reads columns of listed blocks. From the database only the requested columns are read; blocks in the asset store are read from there.

import type { AssetsPart } from '../assets/assets.ts';
import type { Core } from '../core/core.ts';
import { textArray } from '../db/arrays.ts';
import { statement } from '../db/statement.ts';
import type { BlockKind, BlockRef, StoredBlock } from './block.ts';
import { keysOf } from './list.ts';

interface PartsRow {
  readonly block_id: bigint;
  /** Of each column that is asked for; null: the block has none. */
  readonly lengths: (number | null)[];
  /** Null: they are in the asset store. */
  readonly parts: Buffer | null;
  readonly asset_key: string | null;
}

const KEY = `b.account_id = $1 AND b.kind = $2 AND (b.seq, b.block_id, b.level) IN (SELECT u.seq, u.id, u.level FROM unnest($3::bigint[], $4::bigint[], $5::smallint[]) u(seq, id, level))`;
const selectParts = statement(
  'block_select_parts',
  `SELECT b.block_id, b.asset_key, c.lengths, c.parts
     FROM core.block b CROSS JOIN LATERAL (
       SELECT array_agg(b.starts[p.at + 1] - b.starts[p.at] ORDER BY p.place) AS lengths,
              string_agg(substr(b.body, b.starts[p.at] + 1, b.starts[p.at + 1] - b.starts[p.at]), ''::bytea ORDER BY p.place) AS parts
         FROM (SELECT n.place, array_position(b.names, n.name) AS at FROM unnest($6::text[]) WITH ORDINALITY n(name, place)) p) c
    WHERE ${KEY}`,
);
const selectWhole = statement(
  'block_select_whole',
  `SELECT b.block_id, b.asset_key, b.names, b.starts, b.body FROM core.block b WHERE ${KEY}`,
);

interface WholeRow {
  readonly block_id: bigint;
  readonly asset_key: string | null;
  readonly names: string[];
  readonly starts: number[];
  readonly body: Buffer | null;
}

type Reading = AssetsPart & Pick<Core, 'db'>;

/** Blocks with the columns that they have of `columns` (null: all), in the order of `refs`. Throws when one is gone. */
export async function readBlocks(
  core: Reading,
  kind: BlockKind,
  accountId: string,
  refs: readonly BlockRef[],
  columns: readonly string[] | null,
): Promise<StoredBlock[]> {
  if (refs.length === 0) return [];
  const keys = [accountId, kind.name, ...keysOf(refs)];
  const found = new Map<bigint, ReadonlyMap<string, Uint8Array>>();
  const away = new Map<bigint, string>();
  if (columns === null) await readWhole(core, keys, found, away);
  else await readParts(core, keys, columns, found, away);
  if (away.size > 0)
    await readAway(
      core,
      kind,
      accountId,
      refs.filter(({ blockId }) => away.has(blockId)),
      { columns, away, found },
    );
  return refs.map((ref) => {
    const { blockId, fromMs, toMs, records, level } = ref;
    const block = found.get(blockId);
    if (block === undefined) throw new Error(`block ${blockId} of ${kind.name} is gone`);
    return { blockId, fromMs, toMs, records, level, columns: block };
  });
}

type Keys = readonly (string | Buffer)[];
type Found = Map<bigint, ReadonlyMap<string, Uint8Array>>;

async function readParts(
  { db }: Reading,
  keys: Keys,
  columns: readonly string[],
  found: Found,
  away: Map<bigint, string>,
) {
  const { rows } = await db.query<PartsRow>(selectParts, [...keys, textArray(columns)]);
  for (const { block_id, asset_key, lengths, parts } of rows) {
    if (asset_key !== null) {
      away.set(block_id, asset_key);
      continue;
    }
    const block = new Map<string, Uint8Array>();
    let at = 0;
    for (const [i, name] of columns.entries()) {
      const length = lengths[i] ?? null;
      if (length === null || parts === null) continue;
      block.set(name, parts.subarray(at, at + length));
      at += length;
    }
    found.set(block_id, block);
  }
}

async function readWhole({ db }: Reading, keys: Keys, found: Found, away: Map<bigint, string>) {
  const { rows } = await db.query<WholeRow>(selectWhole, keys);
  for (const { block_id, asset_key, names, starts, body } of rows) {
    if (body === null) away.set(block_id, asset_key as string);
    else found.set(block_id, sliceColumns(body, names, starts));
  }
}

const selectPlaces = statement(
  'block_select_places',
  `SELECT b.block_id, b.names, b.starts FROM core.block b WHERE ${KEY}`,
);

/** An asset is read whole: a second request for a part of it takes longer than the part saves. */
async function readAway(
  { db, assets }: Reading,
  kind: BlockKind,
  accountId: string,
  refs: readonly BlockRef[],
  { columns, away, found }: { columns: readonly string[] | null; away: ReadonlyMap<bigint, string>; found: Found },
) {
  const { rows } = await db.query<Omit<WholeRow, 'body'>>(selectPlaces, [accountId, kind.name, ...keysOf(refs)]);
  for (const { block_id, names, starts } of rows) {
    const all = sliceColumns(await assets.read(away.get(block_id) as string), names, starts);
    found.set(block_id, columns === null ? all : new Map([...all].filter(([name]) => columns.includes(name))));
  }
}

function sliceColumns(
  body: Buffer,
  names: readonly string[],
  starts: readonly number[],
): ReadonlyMap<string, Uint8Array> {
  return new Map(names.map((name, i) => [name, body.subarray(starts[i], starts[i + 1])]));
}
