import { clockNow } from '../../src/core/database-clock.ts';
import type { TestService } from './service.ts';

const DAY_SECONDS = 86_400;

/**
 * Moves the clock of the service on to the next time at which the day is so many seconds old, in UTC. Returns that instant in milliseconds.
 * So what is left of a day does not depend on when a test runs. Answers of the service tell the new time only a moment later.
 */
export async function untilTimeOfDay(service: TestService, seconds: number): Promise<number> {
  const nowMs = await clockNow(service.core.db);
  const ahead = (seconds - (Math.floor(nowMs / 1_000) % DAY_SECONDS) + DAY_SECONDS) % DAY_SECONDS;
  await service.advance(ahead);
  return nowMs + ahead * 1_000;
}
