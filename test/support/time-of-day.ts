import { clockNow } from '../../src/core/database-clock.ts';
import type { TestService } from './service.ts';

const DAY_SECONDS = 86_400;

/**
 * Moves the clock to the next such time of a day in UTC, in seconds, and returns that instant in milliseconds: what is left of a day
 * must not depend on when a test runs. Answers of the service tell the new time only a moment later.
 */
export async function untilTimeOfDay(service: TestService, seconds: number): Promise<number> {
  const nowMs = await clockNow(service.core.db);
  const ahead = (seconds - (Math.floor(nowMs / 1_000) % DAY_SECONDS) + DAY_SECONDS) % DAY_SECONDS;
  await service.advance(ahead);
  return nowMs + ahead * 1_000;
}
