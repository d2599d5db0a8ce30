// Stops a service: new calls are refused, running ones end or are ended, counters are written, and the storage closes last.
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobLoop } from '../core/background/job-loop.ts';
import type { Sweeper } from '../core/background/sweeper/sweeper.ts';
import type { Logger } from '../core/process/logger.ts';
import type { Storage } from '../db/storage.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { Module } from '../kit/module.ts';
import type { Services } from '../kit/services.ts';
import type { OpenServers } from '../surfaces/servers/open-servers.ts';
import type { Shell } from './shell.ts';

const CALLS_FINISH_MS = 6_000;
const ENDED_CALLS_FINISH_MS = 1_000;

export interface Running {
  readonly shell: Shell;
  readonly servers: OpenServers;
  readonly inner: {
    readonly core: Services;
    readonly gateway: Gateway;
    readonly states: ReadonlyMap<string, unknown>;
    readonly modules: readonly Module[];
    readonly sweeper: Sweeper;
    readonly jobs: readonly JobLoop[];
  };
  readonly storage: Storage;
  readonly log: Logger;
}

export async function stopService({ shell, servers, inner, storage, log }: Running): Promise<void> {
  shell.shut();
  const serversClosing = servers.close();
  for (const module of inner.modules) await module.stop?.(inner.states.get(module.name));
  const closing = shell.rest.close();
  await Promise.all([
    waitUntil(() => !shell.busy(), CALLS_FINISH_MS),
    serversClosing,
    shell.closeSockets(),
    inner.sweeper.stop(),
    ...inner.jobs.map((loop) => loop.stop()),
  ]);
  await Promise.all([
    inner.core.outbound.close(),
    inner.core.blockThreads.close(),
    inner.gateway.bodies.close(),
    inner.core.vendors.health.stop(),
  ]);
  shell.endStreams();
  // Calls that waited for what has just been ended write how it went, and answer.
  await waitUntil(() => !shell.busy(), ENDED_CALLS_FINISH_MS);
  await inner.core.lanes.drain();
  for (const module of inner.modules) await module.close?.(inner.states.get(module.name));
  try {
    await Promise.all([
      inner.core.usage.flush(),
      inner.core.requests.flush(),
      inner.core.requests.flushShort('all'),
      inner.core.tracing?.stop(),
    ]);
    await inner.core.processes.leave();
  } catch (error) {
    log.error({ err: error }, 'could not write the last counts');
  }
  shell.rest.server.closeAllConnections();
  await closing;
  await inner.core.db.end();
  await storage.stop();
}

async function waitUntil(done: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!done() && performance.now() < deadline) await sleep(10);
}
