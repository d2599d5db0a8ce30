// Keeps one server running as long as the service runs: adopts or replaces one left by an earlier run, and restarts it when it dies.

import { setTimeout as sleep } from 'node:timers/promises';
import { exactBackoffMs } from '../../lib/backoff.ts';
import { withClient } from '../client.ts';
import { StartupError } from '../errors.ts';
import type { Binaries } from './binaries.ts';
import type { Connection, Layout } from './layout.ts';
import type { Owner } from './owner.ts';
import { findPostmaster, removeLeftovers } from './pid-file.ts';
import { adoptPostmaster, isReady, type Postmaster, startPostmaster, stopPostmaster } from './postmaster.ts';

export interface EmbeddedLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export type EmbeddedState = 'running' | 'restarting' | 'stopped';

export interface SupervisorOptions {
  readonly layout: Layout;
  readonly binaries: Binaries;
  readonly owner: Owner | undefined;
  readonly connection: Connection;
  readonly log: EmbeddedLog;
}

const HEALTH_CHECK_MS = 2_000;
const SURVIVOR_WAIT_MS = 5_000;
const RESTART_BACKOFF = { firstMs: 50, maxMs: 5_000 };
/** After a kill -9 of the server its sessions hold the shared memory until they notice. */
const LEFTOVER_MEMORY_TRIES = 40;
const LEFTOVER_MEMORY_WAIT_MS = 250;

export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #stopping = new AbortController();
  #postmaster: Postmaster;
  #state: EmbeddedState = 'running';
  /** Resolves with the last exit code once the server was stopped for good. */
  readonly exited: Promise<number | null>;

  private constructor(options: SupervisorOptions, postmaster: Postmaster) {
    this.#options = options;
    this.#postmaster = postmaster;
    this.exited = this.#supervise();
  }

  /** @param mayAdopt whether a survivor runs the build and the settings that we would start. */
  static async start(options: SupervisorOptions, mayAdopt: boolean): Promise<Supervisor> {
    const survivor = await findSurvivor(options, mayAdopt);
    return new Supervisor(options, survivor ?? (await startFresh(options, new AbortController().signal)));
  }

  get pid(): number {
    return this.#postmaster.pid;
  }

  get state(): EmbeddedState {
    return this.#state;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#state === 'running') await stopPostmaster(this.#options.layout, this.#options.binaries, this.#postmaster);
    await this.exited;
  }

  async #supervise(): Promise<number | null> {
    const { signal } = this.#stopping;
    for (;;) {
      const code = await this.#postmaster.exited;
      if (!signal.aborted) {
        this.#options.log.error(`PostgreSQL (process ${this.#postmaster.pid}) ended unexpectedly; starting it again`);
        await this.#restart(signal);
      }
      if (signal.aborted) {
        this.#state = 'stopped';
        return code;
      }
    }
  }

  async #restart(signal: AbortSignal): Promise<void> {
    this.#state = 'restarting';
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        this.#postmaster = await startFresh(this.#options, signal);
        if (signal.aborted) return await stopPostmaster(this.#options.layout, this.#options.binaries, this.#postmaster);
        this.#state = 'running';
        this.#options.log.info(`PostgreSQL runs again (process ${this.#postmaster.pid})`);
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log.error(error instanceof Error ? error.message : String(error));
      }
      await sleep(exactBackoffMs(RESTART_BACKOFF, failures), undefined, { signal }).catch(() => undefined);
    }
  }
}

async function findSurvivor(options: SupervisorOptions, mayAdopt: boolean): Promise<Postmaster | undefined> {
  const { layout, binaries, log } = options;
  const found = findPostmaster(layout);
  if (found === undefined) return undefined;
  const survivor = adoptPostmaster(layout, found.pid);
  if (
    mayAdopt &&
    (await isReady(layout, survivor, AbortSignal.timeout(SURVIVOR_WAIT_MS))) &&
    (await answers(options))
  ) {
    log.info(`PostgreSQL (process ${found.pid}) still runs from an earlier start; using it`);
    return survivor;
  }
  log.warn(`PostgreSQL (process ${found.pid}) still runs from an earlier start; replacing it`);
  await stopPostmaster(layout, binaries, survivor);
  return undefined;
}

async function answers({ connection }: SupervisorOptions): Promise<boolean> {
  const config = {
    ...connection,
    database: 'postgres',
    connectionTimeoutMillis: HEALTH_CHECK_MS,
    query_timeout: HEALTH_CHECK_MS,
  };
  return withClient(config, (client) => client.query('SELECT 1')).then(
    () => true,
    () => false,
  );
}

async function startFresh(options: SupervisorOptions, signal: AbortSignal): Promise<Postmaster> {
  const { layout, binaries, owner, connection } = options;
  for (let tries = 1; ; tries++) {
    removeLeftovers(layout, connection.host, connection.port);
    try {
      return await startPostmaster(layout, binaries, owner, signal);
    } catch (error) {
      const held = error instanceof StartupError && /shared memory block|lock file/.test(error.message);
      if (!held || tries === LEFTOVER_MEMORY_TRIES) throw error;
    }
    await sleep(LEFTOVER_MEMORY_WAIT_MS, undefined, { signal });
  }
}
