// One of several processes behind one port: the service as serve.ts runs it, but for what the first process keeps for all of them.

import { ConfigError, loadConfig } from './config/config.ts';
import { readEnv } from './config/env.ts';
import { admission } from './core/admission.ts';
import { createLog } from './core/process/log.ts';
import type { Logger } from './core/process/logger.ts';
import { shareOf } from './core/shares.ts';
import { giveBackStart } from './core/spare-memory.ts';
import { StartupError } from './db/errors.ts';
import type { Storage } from './db/storage.ts';
import { type Service, startService } from './service/start-service.ts';
import { stopOnSignal } from './service/stopping.ts';
import { WorkerHomes } from './workers/homes.ts';
import { Link } from './workers/link.ts';
import type { Enrolment, WorkerFailure } from './workers/primary.ts';
import { SharedLogins, SharedRates, SharedUnderWay, SharedVendorLimits } from './workers/shared-limits.ts';
import { WorkerSiblings } from './workers/siblings.ts';

export async function serveAsWorker(): Promise<void> {
  const link = new Link((batch, sent) => void process.send?.(batch, sent));
  process.on('message', (batch, handle) => void (handle === undefined && link.receive(batch as never)));
  // Without the first process there is no port, and nobody who counts for all.
  process.once('disconnect', () => process.exit(1));
  const config = loadConfig(readEnv());
  const log = createLog(config.logLevel);
  const starting = start(link, log);
  const { stop } = stopOnSignal(starting, log);
  link.on('stop', () => stop('stop'));
  link.on('heartbeat', () => null);
  try {
    const service = await starting;
    const { baseUrl, operator } = service;
    link.on('sign-in link', () => service.signInLink());
    link.tell('ready', { baseUrl, operator });
    giveBackStart();
  } catch (error) {
    if (!(error instanceof StartupError) && !(error instanceof ConfigError)) throw error;
    const failure: WorkerFailure = { message: error.message, isSetting: error instanceof ConfigError };
    link.tell('failed', failure);
    await link.flush();
    process.exit(1);
  }
}

async function start(link: Link, log: Logger): Promise<Service> {
  const whole = loadConfig(readEnv());
  const siblings = new WorkerSiblings(link);
  const { slot, workers, group, port, baseUrl, vendorsText } = (await link.ask('enrol')) as Enrolment;
  const config = {
    ...whole,
    port,
    baseUrl,
    roles: whole.roles.filter((role) => slot === 0 || role !== 'work'),
  } as const;
  return startService(config, {
    log,
    admission: shareOf(admission, workers),
    group: {
      name: group,
      slot,
      siblings,
      homes: new WorkerHomes(link, slot),
      rates: new SharedRates(link),
      underWay: new SharedUnderWay(link),
      logins: new SharedLogins(link),
      vendorLimits: new SharedVendorLimits(link),
      vendorsText,
      async openStorage() {
        const found = (await link.ask('storage')) as Pick<Storage, 'connection' | 'distributed'>;
        return { ...found, isUp: () => true, stop: async () => undefined };
      },
    },
  });
}
