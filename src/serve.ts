// Runs the service as this process: environment, start-up message, signals, exit code (78 for a wrong setting, 1 for what failed).
import { join, relative } from 'node:path';
import { type Service, startService } from './app.ts';
import { type Config, ConfigError, loadConfig } from './config/config.ts';
import { readEnv } from './config/env.ts';
import { createLog } from './core/process/log.ts';
import type { Logger } from './core/process/logger.ts';
import { StartupError } from './db/startup-error.ts';

const EXIT_CONFIG = 78;
const STOP_WITHIN_MS = 10_000;

export async function serve(): Promise<void> {
  try {
    const config = loadConfig(readEnv());
    const log = createLog(config.logLevel);
    const starting = startService(config, { log });
    const isStopping = stopOnSignal(starting, log);
    const service = await starting;
    if (isStopping()) return;
    const { baseUrl, startMs } = service;
    log.info({ base_url: baseUrl, start_ms: Math.round(startMs), test_clock: config.testClock }, 'ready');
    process.stdout.write(greeting(service, config));
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof StartupError)) throw error;
    process.stderr.write(`quartermaster: ${error.message}\n`);
    process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
}

/** The first signal stops in order, also while the service still starts; a second one at once. Answers whether one has come. */
function stopOnSignal(starting: Promise<Service>, log: Logger): () => boolean {
  let stopping = false;
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('stopping took too long');
      process.exit(1);
    }, STOP_WITHIN_MS).unref();
    // A start that fails is reported where it is awaited.
    const service = await starting.catch(() => null);
    if (service === null) return;
    try {
      await service.stop();
      process.exit(0);
    } catch (error) {
      log.fatal({ err: error }, 'stopping failed');
      process.exit(1);
    }
  };
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));
  return () => stopping;
}

function greeting(service: Service, config: Config): string {
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
