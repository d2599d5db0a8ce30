// The server's settings: durable, tuned for a queue on one machine. Valid on PostgreSQL 15 and 18. ALTER SYSTEM overrides them.

import { createHash } from 'node:crypto';

const SETTINGS = {
  max_connections: '100',
  shared_buffers: '256MB',
  // Durability is the promise; none of these three may ever be off.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  // Segments are kept and reused, and a new one is not filled with zeros: that takes 40 ms within somebody's commit. Beside 60 MB/s
  // of vectors p99 of publishes was 55 ms while segments were filled, 18 when not; small commits in new segments are as fast.
  wal_init_zero: 'off',
  min_wal_size: '1GB',
  max_wal_size: '4GB',
  wal_compression: 'on',
  wal_buffers: '16MB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  // A queue table turns over completely within minutes: vacuum early and without pauses.
  autovacuum_naptime: '5s',
  autovacuum_vacuum_scale_factor: '0.05',
  autovacuum_vacuum_threshold: '200',
  autovacuum_analyze_scale_factor: '0.05',
  autovacuum_vacuum_cost_delay: '1ms',
  autovacuum_vacuum_cost_limit: '2000',
  jit: 'off',
  max_parallel_workers_per_gather: '0',
  random_page_cost: '1.1',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // LOG ranks above ERROR: failing statements are the caller's to report.
  log_min_messages: 'log',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
} as const;

export interface Listener {
  /** TCP on 127.0.0.1, for systems without Unix sockets; else no TCP at all. */
  readonly loopback: boolean;
  /** `.` is the data directory itself, which only the server's user may enter. */
  readonly socketDirectory: string;
  readonly port: number;
}

export function settingsText(listener: Listener): string {
  const all: Record<string, string> = {
    ...SETTINGS,
    listen_addresses: listener.loopback ? '127.0.0.1' : '',
    unix_socket_directories: listener.loopback ? '' : listener.socketDirectory,
    port: String(listener.port),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return `# Written at every start; to change a setting use ALTER SYSTEM.\n${lines.join('\n')}\n`;
}

/** Tells whether a server found running is the build, with the settings, that we would start. */
export function fingerprintOf(binariesVersion: string): string {
  return createHash('sha256').update(binariesVersion).update(JSON.stringify(SETTINGS)).digest('base64url').slice(0, 22);
}

export const HBA_TEXT = `# Written at every start: password only, and only from this machine.
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
`;
