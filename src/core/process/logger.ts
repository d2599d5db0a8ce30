// The part of pino that the code uses; log.ts builds the real one with redaction.
import type { Logger as PinoLogger } from 'pino';

export type Logger = Pick<PinoLogger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'>;
