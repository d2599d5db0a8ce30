// Runs the service as this process: environment, start-up texts, signals, exit code (78 for a wrong setting, 1 for what failed).
import { type Config, ConfigError, loadConfig } from './config/config.ts';
import { readEnv } from './config/env.ts';
import { readVendorsText } from './config/vendors-text.ts';
import { createLog } from './core/process/log.ts';
import type { Logger } from './core/process/logger.ts';
import { StartupError } from './db/errors.ts';
import type { StorageStep } from './db/storage.ts';
import { greeting, StartProgress } from './service/start-text.ts';
import { stopWithNpm } from './service/stop-with-npm.ts';
import { stopOnSignal } from './service/stopping.ts';
import type { WorkerTimes } from './workers/primary.ts';

const EXIT_CONFIG = 78;

/** Tests have shorter `times`. */
export async function serve(times?: WorkerTimes): Promise<void> {
  // A terminal that was closed is no failure: the signal that comes with it stops the service in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    const config = loadConfig(readEnv());
    const log = createLog(config.logLevel);
    const progress = new StartProgress(config, (text) => process.stdout.write(text));
    const starting = start(config, log, { times, onStep: (step) => progress.step(step) });
    const stopping = stopOnSignal(starting, log);
    const { isStopping } = stopping;
    stopWithNpm(stopping);
    const service = await starting.catch((error: unknown) => {
      // Ctrl-C reaches all processes, and those that still start end at once. That was asked for, and is no failed start.
      if (!(error instanceof StartupError) || !isStopping()) throw error;
      log.info({ reason: error.message }, 'stopped before it had started');
      process.exit(0);
    });
    progress.end();
    if (isStopping()) return;
    const { baseUrl, startMs } = service;
    const { workers, testClock } = config;
    log.info({ base_url: baseUrl, start_ms: Math.round(startMs), workers, test_clock: testClock }, 'ready');
    process.stdout.write(greeting(service, await service.signInLink(), config));
    (await import('./core/spare-memory.ts')).giveBackStart();
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
  signInLink(): Promise<string | null>;
  stop(): Promise<void>;
}

interface StartOptions {
  readonly times: WorkerTimes | undefined;
  readonly onStep: (step: StorageStep) => void;
}

/** Alone, or as the first of several processes, which needs no more than it loads. */
async function start(config: Config, log: Logger, { times, onStep }: StartOptions): Promise<Running> {
  if (config.workers > 1) {
    const { startWorkers } = await import('./workers/primary.ts');
    return startWorkers(config, { log, vendorsText: readVendorsText(config), times, onStep });
  }
  return (await import('./service/start-service.ts')).startService(config, { log, onStep });
}
