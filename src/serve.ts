// Runs the service as this process: environment, start-up message, signals, exit code (78 for a wrong setting, 1 for what failed).
import { relative } from 'node:path';
import { type Service, startService } from './app.ts';
import { type Config, ConfigError, loadConfig } from './config/config.ts';
import { readEnv } from './config/env.ts';
import { createLog } from './core/log.ts';
import { StartupError } from './db/startup-error.ts';

const EXIT_CONFIG = 78;
const STOP_WITHIN_MS = 10_000;

export async function serve(): Promise<void> {
  let service: Service;
  try {
    const config = loadConfig(readEnv());
    const log = createLog(config.logLevel);
    service = await startService(config, { log });
    log.info(
      { base_url: service.baseUrl, start_ms: Math.round(service.startMs), test_clock: config.testClock },
      'ready',
    );
    process.stdout.write(greeting(service, config));
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof StartupError)) throw error;
    process.stderr.write(`quartermaster: ${error.message}\n`);
    process.exit(error instanceof ConfigError ? EXIT_CONFIG : 1);
  }
  stopOnSignal(service);
}

/** The first signal stops in order, a second one at once. */
function stopOnSignal(service: Service): void {
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) process.exit(1);
    stopping = true;
    service.core.log.info({ signal }, 'stopping');
    setTimeout(() => {
      service.core.log.error('stopping took too long');
      process.exit(1);
    }, STOP_WITHIN_MS).unref();
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        service.core.log.fatal({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function greeting(service: Service, config: Config): string {
  const keyFile = relative(process.cwd(), `${config.dataDir}/operator.key`);
  const lines = [`\nQuartermaster answers at ${service.baseUrl}  (documentation: ${service.baseUrl}/docs)\n`];
  if (service.operator !== null) {
    lines.push(
      `Created the operator's account ${service.operator.accountId} with 2 USD of credit; its key is in ${keyFile} (mode 0600).\n`,
    );
  }
  lines.push(
    'Try it:\n',
    `  curl -sS ${service.baseUrl}/v1/queue/create -H "Authorization: Bearer $(cat ${keyFile})" -H 'Content-Type: application/json' -d '{"name":"jobs"}'\n`,
    `  curl -sS ${service.baseUrl}/v1/queue/publish -H "Authorization: Bearer $(cat ${keyFile})" -H 'Content-Type: application/json' -d '{"queue":"jobs","payload":{"hello":"world"}}'\n\n`,
  );
  return lines.join('');
}
