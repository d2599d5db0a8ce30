// WAL segments made ahead of need. A commit that must first create its segment waits 20-30 ms; switching through some and
// letting a checkpoint recycle them leaves them ready. Runs once after the start, in the background, a little at a time.

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { withClient } from '../client.ts';
import type { Connection } from './layout.ts';
import type { EmbeddedLog } from './supervisor.ts';

const SEGMENTS_WANTED = 24;
const SEGMENTS_PER_CHECKPOINT = 8;
const PAUSE_MS = 20;

/** @returns what stops it. Its failure is logged and harms nothing. */
export function startWalPreparation(connection: Connection, log: EmbeddedLog): AbortController {
  const stopping = new AbortController();
  withClient(connection, (client) => prepareSegments(client, stopping.signal)).catch((error: unknown) => {
    if (!stopping.signal.aborted) log.warn(`WAL segments were not prepared: ${String(error)}`);
  });
  return stopping;
}

async function prepareSegments(client: pg.Client, signal: AbortSignal): Promise<void> {
  const found = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM pg_ls_waldir()');
  for (let made = found.rows[0]?.count ?? 0; made < SEGMENTS_WANTED && !signal.aborted; made++) {
    // A switch does nothing in an empty segment, hence the message.
    await client.query(`SELECT pg_logical_emit_message(false, 'quartermaster', ''), pg_switch_wal()`);
    if (made % SEGMENTS_PER_CHECKPOINT === 0 || made === SEGMENTS_WANTED - 1) await client.query('CHECKPOINT');
    await sleep(PAUSE_MS);
  }
}
