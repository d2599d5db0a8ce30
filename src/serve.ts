// Runs the service as this process: environment, start-up message, signals, exit code (78 for a wrong setting, 1 for what failed).
import { join, relative } from 'node:path';
import { type Config, ConfigError, loadConfig } from './config/config.ts';
import { readEnv } from './config/env.ts';
import { readVendorsText } from './config/vendors-text.ts';
import { createLog } from './core/process/log.ts';
import type { Logger } from './core/process/logger.ts';
import { StartupError } from './db/errors.ts';
import { stopOnSignal } from './stopping.ts';
import type { WorkerTimes } from './workers/primary.ts';

const EXIT_CONFIG = 78;

/** Tests have shorter `times`. */
export async function serve(times?: WorkerTimes): Promise<void> {
  try {
    const config = loadConfig(readEnv());
    const log = createLog(config.logLevel);
    const starting = start(config, log, times);
    const { isStopping } = stopOnSignal(starting, log);
    const service = await starting.catch((error: unknown) => {
      // Ctrl-C reaches all processes, and those that still start end at once. That was asked for, and is no failed start.
      if (!(error instanceof StartupError) || !isStopping()) throw error;
      log.info({ reason: error.message }, 'stopped before it had started');
      process.exit(0);
    });
    if (isStopping()) return;
    const { baseUrl, startMs } = service;
    const { workers, testClock } = config;
    log.info({ base_url: baseUrl, start_ms: Math.round(startMs), workers, test_clock: testClock }, 'ready');
    process.stdout.write(greeting(service, config));
    await service.failed?.catch(async (error: Error) => {
      process.stderr.write(`quartermaster: ${error.message}\n`);
      await service.stop();
      process.exit(1);
    });
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof StartupError)) throw error;
    process.stderr.write(`quartermaster: ${error.message}\n`);
    process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

interface Running {
  readonly baseUrl: string;
  readonly operator: { readonly accountId: string } | null;
  readonly startMs: number;
  /** Rejects when it cannot go on. */
  readonly failed?: Promise<never>;
  stop(): Promise<void>;
}

/** Alone, or as the first of several processes, which needs no more than it loads. */
async function start(config: Config, log: Logger, times?: WorkerTimes): Promise<Running> {
  if (config.workers > 1) {
    const { startWorkers } = await import('./workers/primary.ts');
    return startWorkers(config, readVendorsText(config), log, times);
  }
  return (await import('./app.ts')).startService(config, { log });
}

function greeting(service: Running, config: Config): string {
  const keyFile = nearName(join(config.dataDir, 'operator.key'));
  const key = `-H "Authorization: Bearer $(cat ${shellWord(keyFile)})" -H 'Content-Type: application/json'`;
  const lines = [`\nQuartermaster answers at ${service.baseUrl}  (documentation: ${service.baseUrl}/docs)\n`];
  if (service.operator !== null) {
    lines.push(
      `Created the operator's account ${service.operator.accountId} with 2 USD of credit; its key is in ${keyFile} (mode 0600).\n`,
    );
  }
  lines.push(
    'Try it:\n',
    `  curl -sS ${service.baseUrl}/v1/queue/create ${key} -d '{"name":"jobs"}'\n`,
    `  curl -sS ${service.baseUrl}/v1/queue/publish ${key} -d '{"queue":"jobs","payload":{"hello":"world"}}'\n\n`,
  );
  return lines.join('');
}

/** Relative to where the user is, unless that leads out of it. */
function nearName(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
