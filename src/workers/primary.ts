// The first process of several. It owns PostgreSQL and the counters that all workers share, and answers no call itself. A worker that dies
// or freezes is replaced. No worker outlives the first process: at its end it kills those that are left, and when it is killed they end
// themselves.
import cluster, { type Worker } from 'node:cluster';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, ConfigError, originOf } from '../config/config.ts';
import type { Logger } from '../core/process/logger.ts';
import { StartupError } from '../db/errors.ts';
import { openStorage, type Storage, type StorageStep } from '../db/storage.ts';
import { backoffMs } from '../lib/backoff.ts';
import { randomText } from '../lib/ids.ts';
import { findPort } from '../surfaces/http/listen.ts';
import { HEARTBEATS, Heartbeats, type HeartbeatTimes } from './heartbeats.ts';
import { HomeKeeper, unlessGone } from './homes.ts';
import { Link } from './link.ts';
import { Relay } from './relay.ts';
import { LimitKeeper } from './shared-limits.ts';

/** What a worker is told when it starts. */
export interface Enrolment {
  /** From 0; number 0 does the background work. */
  readonly slot: number;
  readonly workers: number;
  /** Begins the ids of all these processes. */
  readonly group: string;
  readonly port: number;
  readonly baseUrl: string;
  /** VENDORS_FILE as it was when the service started. */
  readonly vendorsText: string | null;
}

/** Why a worker does not start. */
export interface WorkerFailure {
  readonly message: string;
  /** The operator has set something wrongly. */
  readonly isSetting: boolean;
}

export interface WorkerReady {
  readonly baseUrl: string;
  readonly operator: { readonly accountId: string; readonly keyFile: string } | null;
}

export interface WorkerGroup extends WorkerReady {
  readonly startMs: number;
  /** Rejects with StartupError when workers die again and again. */
  readonly failed: Promise<never>;
  signInLink(): Promise<string | null>;
  /** Ends all workers, then PostgreSQL. */
  stop(): Promise<void>;
}

const MAIN = join(import.meta.dirname, '../main.js');
/** A worker that ends sooner died at its start. */
const SHORT_LIFE_MS = 10_000;
/** So many short lives in a row are no accident. */
const SHORT_LIVES_MAX = 5;
const BACKOFF = { firstMs: 100, maxMs: 5_000 };

export interface WorkerTimes {
  readonly heartbeats: HeartbeatTimes;
  /** From the stop until workers that are left are killed: less than the process has in all (stopping.ts), for PostgreSQL stops after them. */
  readonly stopMs: number;
}

const TIMES: WorkerTimes = { heartbeats: HEARTBEATS, stopMs: 9_000 };

export interface WorkersOptions {
  readonly log: Logger;
  readonly vendorsText: string | null;
  /** Tests have shorter ones. */
  readonly times?: WorkerTimes | undefined;
  readonly onStep?: (step: StorageStep) => void;
}

/** Starts `config.workers` processes. Throws StartupError or ConfigError; nothing is left running then. */
export async function startWorkers(config: Config, options: WorkersOptions): Promise<WorkerGroup> {
  const begunMs = performance.now();
  const primary = new Primary(config, options);
  process.once('exit', () => primary.killAll());
  try {
    const ready = await primary.start();
    return {
      ...ready,
      startMs: performance.now() - begunMs,
      failed: primary.failed.promise,
      signInLink: () => primary.signInLink(),
      stop: () => primary.stop(),
    };
  } catch (error) {
    await primary.stop();
    throw error;
  }
}

class Primary {
  readonly failed = Promise.withResolvers<never>();
  #config: Config;
  readonly #options: WorkersOptions;
  readonly #log: Logger;
  readonly #group = `${hostname()}-${process.pid}-${randomText(6)}`;
  readonly #relay = new Relay();
  readonly #limits = new LimitKeeper();
  readonly #homes = new HomeKeeper();
  readonly #stopMs: number;
  readonly #heartbeats: Heartbeats;
  readonly #links = new Map<Worker, Link>();
  #storage: Promise<Storage> | null = null;
  #isStopping = false;

  constructor(config: Config, options: WorkersOptions) {
    const { log, times: { heartbeats, stopMs } = TIMES } = options;
    this.#config = config;
    this.#options = options;
    this.#log = log;
    this.#stopMs = stopMs;
    this.#heartbeats = new Heartbeats(heartbeats, log);
    // Whoever waits for it hears of it; at the start, what start() throws says the same.
    this.failed.promise.catch(() => undefined);
    cluster.setupPrimary({ exec: MAIN, args: process.argv.slice(2) });
    cluster.schedulingPolicy = cluster.SCHED_RR;
  }

  async start(): Promise<WorkerReady> {
    const { baseUrl: asGiven } = this.#config;
    const port = await findPort(this.#config);
    const baseUrl = asGiven === originOf(this.#config) ? originOf({ ...this.#config, port }) : asGiven;
    this.#config = { ...this.#config, port, baseUrl };
    this.#storage = openStorage(this.#config, this.#options);
    // Whoever asks for it hears of a failure.
    this.#storage.catch(() => undefined);
    const slots = Array.from({ length: this.#config.workers }, (_, slot) => slot);
    const ready = slots.map((slot) => this.#fork(slot));
    for (const { ended } of ready) ended.catch(() => undefined);
    const told = await Promise.all(ready.map((worker) => Promise.race([worker.ready, worker.ended.then(neverReady)])));
    ready.forEach(({ ended }, slot) => void this.#keep(slot, ended));
    return { ...(told[0] as WorkerReady), operator: told.find(({ operator }) => operator !== null)?.operator ?? null };
  }

  /** One of them makes it. */
  async signInLink(): Promise<string | null> {
    const [link] = this.#links.values();
    return ((await link?.ask('sign-in link').catch(unlessGone)) ?? null) as string | null;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const ended = [...this.#links.keys()].map((worker) => exitOf(worker));
    for (const link of this.#links.values()) link.tell('stop');
    const killing = setTimeout(() => {
      this.#log.error({ workers: this.#links.size }, 'stopping took too long: the remaining workers are killed');
      this.killAll();
    }, this.#stopMs);
    await Promise.all(ended);
    clearTimeout(killing);
    this.#heartbeats.stop();
    const storage = await this.#storage?.catch(() => null);
    await storage?.stop();
  }

  /** Does not wait for their ends: also for when this process exits. */
  killAll(): void {
    for (const worker of this.#links.keys()) worker.process.kill('SIGKILL');
  }

  /** Replaces the worker of a slot for as long as the service runs. */
  async #keep(slot: number, firstEnded: Promise<string>): Promise<void> {
    let ended = firstEnded;
    let begunMs = performance.now();
    for (let shortLives = 0; ; ) {
      const how = await ended.catch((error: Error) => error.message);
      if (this.#isStopping) return;
      shortLives = performance.now() - begunMs < SHORT_LIFE_MS ? shortLives + 1 : 0;
      if (shortLives >= SHORT_LIVES_MAX) {
        const text = `worker ${slot} ended ${shortLives} times within ${SHORT_LIFE_MS / 1_000} s of its start; the last time: ${how}`;
        this.failed.reject(new StartupError(text));
        return;
      }
      this.#log.error({ worker: slot, how }, 'a worker process has ended; it is replaced');
      if (shortLives > 0) await sleep(backoffMs(BACKOFF, shortLives));
      if (this.#isStopping) return;
      begunMs = performance.now();
      ({ ended } = this.#fork(slot));
    }
  }

  /** `ready` resolves once it answers calls; `ended` says how it ended, and rejects with what it could not start for. */
  #fork(slot: number): { readonly ready: Promise<WorkerReady>; readonly ended: Promise<string> } {
    const worker = cluster.fork();
    const link = new Link((batch, sent) => void (worker.isConnected() ? worker.send(batch, sent) : sent()));
    this.#links.set(worker, link);
    worker.on('message', (batch, handle) => void (handle === undefined && link.receive(batch)));
    // A message to a worker that has just ended; its end is heard anyway.
    worker.on('error', () => undefined);
    this.#homes.hear(slot, worker, link);
    this.#serve(link, slot);
    this.#heartbeats.watch(slot, worker, link);
    const ready = Promise.withResolvers<WorkerReady>();
    link.on('ready', (told: WorkerReady) => {
      this.#homes.open(slot, worker, link);
      ready.resolve(told);
    });
    let failure: StartupError | ConfigError | null = null;
    link.on('failed', ({ message, isSetting }: WorkerFailure) => {
      failure = isSetting ? new ConfigError(message) : new StartupError(message);
    });
    const ended = exitOf(worker).then((how) => {
      this.#links.delete(worker);
      this.#relay.remove(link);
      this.#limits.remove(link);
      if (failure !== null) throw failure;
      return how;
    });
    return { ready: ready.promise, ended };
  }

  #serve(link: Link, slot: number): void {
    const { workers, port, baseUrl } = this.#config;
    link.on('enrol', (): Enrolment => {
      this.#relay.add(link);
      return { slot, workers, group: this.#group, port, baseUrl, vendorsText: this.#options.vendorsText };
    });
    this.#limits.add(link);
    link.on('storage', async () => {
      const { connection, distributed } = await (this.#storage as Promise<Storage>);
      return { connection, distributed };
    });
  }
}

function exitOf(worker: Worker): Promise<string> {
  return new Promise((resolve) => {
    worker.once('exit', (code, signal) => resolve(signal === null ? `exit code ${code}` : `signal ${signal}`));
  });
}

function neverReady(how: string): never {
  throw new StartupError(`a worker process ended at its start: ${how}`);
}
