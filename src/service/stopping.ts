// Signals that end the process: the first one stops in order, even during the start; a second one ends it at once. A closed terminal (SIGHUP)
// and Ctrl-\ (SIGQUIT) count too: their defaults would leave PostgreSQL running.
import type { Logger } from '../core/process/logger.ts';

const STOP_WITHIN_MS = 10_000;
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
/** npm hands on the Ctrl-C that the terminal has sent to all its processes: the same signal within this time is one. */
const SAME_SIGNAL_MS = 1_000;

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
  let first: { readonly signal: NodeJS.Signals; readonly atMs: number } | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    const isSoon = first !== null && performance.now() - first.atMs < SAME_SIGNAL_MS;
    // A terminal that closes, and systemd at the end of a session, send SIGHUP beside another signal, and either may come first: nobody is in
    // a hurry.
    const isOneWish = signal === 'SIGHUP' || (isSoon && (signal === first?.signal || first?.signal === 'SIGHUP'));
    if (first !== null && stopping && !isOneWish) process.exit(1);
    first ??= { signal, atMs: performance.now() };
    void stop(signal);
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return { isStopping: () => stopping, stop: (reason) => void stop(reason) };
}
