// The subset of pino's interface that the code uses; log.ts creates the real logger with redaction.
import type { Logger as PinoLogger } from 'pino';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;
