// How a process ends: the first signal stops in order, also while it still starts; a second one ends it at once.
import type { Logger } from './core/process/logger.ts';

const STOP_WITHIN_MS = 10_000;

export interface Stopping {
  readonly isStopping: () => boolean;
  /** As the first signal. Once more: nothing. */
  stop(reason: string): void;
}

/** Ends the process: 0 once `starting`'s service has stopped, 1 where that fails or takes too long. A start that fails is not its matter. */
export function stopOnSignal(starting: Promise<{ stop(): Promise<void> }>, log: Logger): Stopping {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      log.error('stopping took too long');
      process.exit(1);
    }, STOP_WITHIN_MS).unref();
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
  const onSignal = (signal: NodeJS.Signals) => {
    if (signals === 0 || !stopping) void stop(signal);
    else process.exit(1);
    signals += 1;
  };
  let signals = 0;
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return { isStopping: () => stopping, stop: (reason) => void stop(reason) };
}
