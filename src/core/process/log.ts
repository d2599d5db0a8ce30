// Structured logs. Secrets are redacted by field name wherever they can occur in a logged object.
import pino from 'pino';
import type { Logger } from './logger.ts';

const secretNames = [
  'authorization',
  'key_secret',
  'secret',
  'secret_access_key',
  'password',
  'idempotency_key',
  'sentry_key',
];
const paths = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`, `headers.${name}`]);

/** Writes JSON lines to standard output; `level` is a pino level or `silent`. */
export function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: { service: 'quartermaster', pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths, censor: '[redacted]' },
      serializers: { err: withoutValues },
    },
    standardOutput(),
  );
}

/**
 * Where standard output takes nothing (a closed terminal, a full disk), lines are lost and the service goes on. Left to pino the error would
 * end the process, and its last flush would try for ever.
 */
function standardOutput(): { write(line: string): void } {
  const open = () => {
    const out = pino.destination();
    return out.once('error', () => {
      out.destroy();
      current = open();
    });
  };
  let current = open();
  return { write: (line) => void current.write(line) };
}

/** Only what names an error: objects of drivers carry statements, values and connections along, and with them callers' data. */
function withoutValues(error: unknown): unknown {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  const cause = error.cause === undefined ? undefined : withoutValues(error.cause);
  const errors = error instanceof AggregateError ? error.errors.map(withoutValues) : undefined;
  return { type: error.name, message: error.message, code, severity, stack: error.stack, cause, errors };
}
