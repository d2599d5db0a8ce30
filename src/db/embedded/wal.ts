// Pre-allocates WAL segments. While the disk must first allocate one, commits of megabytes delay others longer (p99 of publishes beside them: 18
// ms instead of 10-17). Switching through some segments and letting a checkpoint recycle them makes them ready. Runs once after the start, in
// the background, a little at a time.

import { statfsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withClient } from '../client.ts';
import type { Connection, Layout } from './layout.ts';
import type { EmbeddedLog } from './supervisor.ts';

/** 512 MB: what a minute of 8 MB/s needs, by which time checkpoints recycle what was used. */
const SEGMENTS_WANTED = 32;
const PAUSE_MS = 10;
/** The first start's migration and the first calls come before it. */
const BEGIN_AFTER_MS = 2_000;
/** Below this the disk is better used for data. */
const FREE_BYTES_MIN = 4 * 1024 ** 3;

/** @returns what stops it. Its failure is logged and harms nothing. */
export function startWalPreparation({ cluster }: Layout, connection: Connection, log: EmbeddedLog): AbortController {
  const stopping = new AbortController();
  const { bavail, bsize } = statfsSync(cluster);
  if (bavail * bsize < FREE_BYTES_MIN) return stopping;
  prepareLater(connection, stopping.signal).catch((error: unknown) => {
    if (!stopping.signal.aborted) log.warn(`WAL segments were not prepared: ${String(error)}`);
  });
  return stopping;
}

async function prepareLater(connection: Connection, signal: AbortSignal): Promise<void> {
  await sleep(BEGIN_AFTER_MS, undefined, { signal, ref: false });
  await withClient(connection, (client) => prepareSegments(client, signal));
}

async function prepareSegments(client: pg.Client, signal: AbortSignal): Promise<void> {
  const found = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM pg_ls_waldir()');
  const missing = SEGMENTS_WANTED - (found.rows[0]?.count ?? 0);
  for (let made = 0; made < missing && !signal.aborted; made++) {
    // A switch does nothing in an empty segment, hence the message.
    await client.query(`SELECT pg_logical_emit_message(false, 'quartermaster', ''), pg_switch_wal()`);
    await sleep(PAUSE_MS);
  }
  if (missing > 0 && !signal.aborted) await client.query('CHECKPOINT');
}
