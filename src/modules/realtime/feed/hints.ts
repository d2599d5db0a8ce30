// Hints between processes that an account has published: one bare NOTIFY at a time, with all accounts that gathered meanwhile. A hint is never
// the truth: a process that receives one reads rows, and a missed hint is caught by the poll once a second.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { ConnectionConfig, Queryable } from '../../../db/database.ts';
import { statement } from '../../../db/statement.ts';

const TOPIC = 'realtime';
/** PostgreSQL takes 8,000 bytes. */
const ACCOUNTS_PER_HINT = 200;
const RECONNECT_MS = 1_000;

const notify = statement('realtime_notify', `SELECT pg_notify('${TOPIC}', $1)`);

export interface HintOptions {
  readonly db: Queryable;
  readonly connection: ConnectionConfig;
  /** Of this process: what it told itself is passed over. */
  readonly processId: string;
  readonly heard: (accountId: string) => void;
  readonly onError: (error: unknown) => void;
}

export class Hints {
  readonly #options: HintOptions;
  readonly #stopping = new AbortController();
  #pending = new Set<string>();
  #isTelling = false;
  #listening: Promise<void> | null = null;
  #client: pg.Client | null = null;

  constructor(options: HintOptions) {
    this.#options = options;
  }

  /** Tells the other processes, soon. */
  tell(accountId: string): void {
    this.#pending.add(accountId);
    if (!this.#isTelling) void this.#tellAll();
  }

  /** From the first call on hints are heard. */
  listen(): void {
    this.#listening ??= this.#listen();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#client?.end().catch(() => undefined);
    await this.#listening;
  }

  async #tellAll(): Promise<void> {
    const { db, processId, onError } = this.#options;
    this.#isTelling = true;
    try {
      while (this.#pending.size > 0 && !this.#stopping.signal.aborted) {
        const accounts = [...this.#pending].slice(0, ACCOUNTS_PER_HINT);
        for (const account of accounts) this.#pending.delete(account);
        await db.query(notify, [[processId, ...accounts].join()]);
      }
    } catch (error) {
      this.#pending = new Set();
      onError(error);
    } finally {
      this.#isTelling = false;
    }
  }

  async #listen(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const client = new pg.Client({ ...this.#options.connection, keepAlive: true });
      this.#client = client;
      const ended = new Promise<void>((resolve) => {
        client.on('end', () => resolve());
        client.on('error', () => resolve());
      });
      client.on('notification', ({ payload = '' }) => this.#onHint(payload));
      try {
        await client.connect();
        await client.query(`LISTEN ${TOPIC}`);
        await ended;
      } catch (error) {
        if (!signal.aborted) this.#options.onError(error);
      }
      await client.end().catch(() => undefined);
      await sleep(RECONNECT_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  #onHint(payload: string): void {
    const [processId, ...accounts] = payload.split(',');
    if (processId === this.#options.processId) return;
    for (const account of accounts) this.#options.heard(account);
  }
}
