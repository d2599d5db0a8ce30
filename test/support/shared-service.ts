// Services that several files of a worker use: a start takes a database, seven sessions and a second of processor time. Accounts keep tests
// apart. What counts what the whole service does starts a service of its own (`startTestService`).
import { hasTestOperator, startTestService, type TestService, type TestServiceOptions } from './service.ts';

export type SharedService = Omit<TestService, 'advance' | 'stop'>;

let started: Promise<SharedService> | undefined;

/**
 * The worker's service with the defaults, for all files that ask for it. It is started by the first who asks, and ends with the worker. No
 * file moves its clock, stops it, or makes an operator.
 */
export function sharedService(): Promise<SharedService> {
  started ??= startTestService();
  return started;
}

/** Services that nobody uses now: each works on by itself, so there are few. */
const IDLE_MAX = 6;
const idle = new Map<string, LentService>();

export interface LentService extends TestService {
  /** With what it was started. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A service of these options for one file alone, which may have served others before. Its `stop` gives it back, for the next who asks for
 * the same; it ends where its clock was moved, it was stopped, or it has got another operator.
 * @param ownEnv makes what differs from service to service, such as a port
 */
export async function lendService(
  options: TestServiceOptions = {},
  ownEnv: () => Promise<Record<string, string>> = async () => ({}),
): Promise<LentService> {
  const start = async () => {
    const env = { ...(await ownEnv()), ...options.env };
    return { ...(await startTestService({ ...options, env })), env };
  };
  const { database, extraModules, migrations, log, isFresh = false, ...plain } = options;
  if (isFresh || [database, extraModules, migrations, log].some((each) => each !== undefined)) return start();
  const key = JSON.stringify(plain);
  const kept = idle.get(key);
  idle.delete(key);
  return asLent(key, kept ?? (await start()));
}

function asLent(key: string, service: LentService): LentService {
  let isAsBefore = true;
  const changes = () => {
    isAsBefore = false;
  };
  return {
    ...service,
    service: {
      ...service.service,
      stop() {
        changes();
        return service.service.stop();
      },
    },
    advance(seconds) {
      changes();
      return service.advance(seconds);
    },
    async stop() {
      if (!isAsBefore || hasTestOperator(service.core)) return service.stop();
      idle.set(key, service);
      const [[oldest, left] = []] = idle;
      if (idle.size <= IDLE_MAX || oldest === undefined) return;
      idle.delete(oldest);
      await left?.stop();
    },
  };
}
