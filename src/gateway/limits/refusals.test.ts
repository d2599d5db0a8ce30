import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { admission } from '../../core/admission.ts';
import { problem } from '../../problems/problem.ts';
import { Refusals } from './refusals.ts';

const bounds = {
  ...admission,
  all: { ...admission.all, refusalsPerSecond: 1_000, refusalHeldMaxMs: 500 },
  account: { ...admission.account, refusalsPerSecond: 10 },
};

function refusals() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ base: null, timestamp: false }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  return { refusals: new Refusals(bounds, log), lines };
}

test('few refusals go out at once, many of one owner are held, and never for longer than a bound', () => {
  const { refusals: paced } = refusals();
  const limited = problem('RATE_LIMITED');
  const held = Array.from({ length: 100 }, () => paced.holdMs(limited, 'acct_a', 10_000));
  expect(held.slice(0, 10)).toEqual(Array(10).fill(0));
  expect(held.slice(10, 13)).toEqual([100, 200, 300]);
  expect(Math.max(...held)).toBe(500);
  expect(paced.holdMs(limited, 'acct_b', 10_000)).toBe(0);
  expect(paced.holdMs(limited, 'acct_a', 12_000)).toBe(0);
});

test('what a repetition may mend is never held', () => {
  const { refusals: paced } = refusals();
  for (let i = 0; i < 100; i += 1) expect(paced.holdMs(problem('KEY_NOT_FOUND'), 'acct_a', 10_000)).toBe(0);
});

test('a thousand refusals of a kind are one line in the log, without a stack', async () => {
  const { refusals: told, lines } = refusals();
  for (let i = 0; i < 1_000; i += 1) told.tell('OVERLOADED');
  for (let i = 0; i < 10; i += 1) told.tell('SERVICE_UNAVAILABLE', new Error('connection refused'));
  expect(lines).toEqual([]);
  const written = [
    { level: 40, kind: 'OVERLOADED', count: 1_000, msg: 'refused within a second: 1000 x OVERLOADED' },
    {
      level: 40,
      kind: 'SERVICE_UNAVAILABLE',
      count: 10,
      reason: 'connection refused',
      msg: 'refused within a second: 10 x SERVICE_UNAVAILABLE',
    },
  ];
  await vi.waitFor(() => expect(lines).toEqual(written), { timeout: 10_000 });
});
