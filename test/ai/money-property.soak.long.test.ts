// Random calls over every wire, price and way to end, at two processes at once: what was charged, what the wallet lost, what usage and journal
// say and what the price sheet says are one sum, and nothing stays held.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../cron/harness.ts';
import { createTestAccount } from '../support/service.ts';
import { rounds } from '../support/soak.ts';
import { bodyOf, costOf, HALF, type Play, paths, play } from './money-plays.ts';
import { type Given, Stage } from './money-stage.ts';

const CREDIT = 1_000_000_000n;

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.start();
});
afterAll(() => stage?.stop());

interface Ended {
  readonly given: Given;
  readonly status: number | null;
  /** As the caller was told; null: it had left. */
  readonly toldNanos: bigint | null;
}

let calls = 0;

async function give(one: Play, secret: string): Promise<Ended> {
  calls += 1;
  const given: Given = { play: one, gate: Promise.withResolvers<void>(), by: [], seen: [] };
  stage.given.set(`call-${calls}`, given);
  const leaving = new AbortController();
  const read = { text: '' };
  const ended = ask(one, `call-${calls}`, secret, leaving.signal, read);
  if (one.leaves !== 'never') {
    const isOver = { value: false };
    ended.finally(() => (isOver.value = true)).catch(() => undefined);
    const isThere = () => (one.leaves === 'early' ? given.by.length > 0 : read.text.includes(HALF));
    await eventually(() => isOver.value || isThere());
    leaving.abort();
    if (!one.model.endsWith('bills') || one.leaves === 'early')
      await eventually(
        () =>
          isOver.value && given.seen.every(({ left }, i) => left || i < given.seen.length - 1 || given.by.length === 0),
      );
    given.gate.resolve();
  }
  const status = await ended.catch((error: unknown) => {
    if (leaving.signal.aborted) return null;
    throw error;
  });
  return { given, status, toldNanos: status === null ? null : costIn(read.text) };
}

async function ask(
  one: Play,
  id: string,
  secret: string,
  signal: AbortSignal,
  read: { text: string },
): Promise<number> {
  const response = await fetch(stage.urls[one.process] + paths[one.door], {
    method: 'POST',
    body: JSON.stringify(bodyOf(one, id)),
    signal,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
  });
  const texts = new TextDecoderStream();
  for await (const piece of response.body?.pipeThrough(texts) ?? []) read.text += piece;
  return response.status;
}

/** Of the metadata, which is told last, wherever it stands. */
function costIn(text: string): bigint {
  const said = [...text.matchAll(/"cost_usd":([\d.e-]+)/g)].at(-1)?.[1];
  return BigInt(Math.round(Number(said ?? 0) * 1e9));
}

const books = {
  name: 'test_ai_property_books',
  text: `SELECT w.balance_nanos AS balance, w.held_nanos AS held,
                (SELECT coalesce(sum(l.amount_nanos), 0)::bigint FROM core.ledger l WHERE l.account_id = $1) AS journal,
                (SELECT coalesce(sum(u.spend_nanos), 0)::bigint FROM core.usage_hour u WHERE u.account_id = $1) AS usage,
                (SELECT coalesce(sum(d.spend_nanos), 0)::bigint FROM ai.model_day d WHERE d.account_id = $1) AS models,
                (SELECT coalesce(sum(h.captured_nanos), 0)::bigint FROM core.hold h WHERE h.account_id = $1) AS captured,
                (SELECT count(*)::bigint FROM core.hold h WHERE h.account_id = $1 AND h.settled_at IS NULL) AS open
           FROM core.wallet w WHERE w.account_id = $1`,
};
type Books = Record<'balance' | 'held' | 'journal' | 'usage' | 'models' | 'captured' | 'open', bigint>;

async function booksOf(accountId: string): Promise<Books> {
  const { rows } = await stage.service.core.db.query<Books>(books, [accountId]);
  return rows[0] as Books;
}

/** Vendors are asked again, whatever they did before. */
async function forgive(): Promise<void> {
  const { db, vendors } = stage.service.core;
  for (const table of ['core.vendor_health', 'core.vendor_calls'])
    await db.query({ name: '', text: `DELETE FROM ${table}` }, []);
  await vendors.health.sync();
}

test('charges, wallet, usage, journal and price sheet are one sum, and nothing stays held', {
  timeout: 900_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(play, { minLength: 4, maxLength: 16 }), async (plays) => {
      await forgive();
      const { accountId, secret } = await createTestAccount(stage.service.core, Number(CREDIT) / 1e9);
      const ended = await Promise.all(plays.map((one) => give(one, secret)));
      const after = await eventually(async () => {
        const now = await booksOf(accountId);
        return now.held === 0n && now.open === 0n ? now : null;
      });
      for (const { given, status, toldNanos } of ended) {
        const cost = costOf(given.play, given.by.at(-1) ?? null);
        const what = JSON.stringify({ ...given.play, by: given.by, status });
        if (toldNanos !== null) expect(toldNanos, what).toBe(cost);
        if (status === 200 && given.play.leaves === 'never') expect(given.by, what).not.toEqual([]);
      }
      const sum = ended.reduce((all, { given }) => all + costOf(given.play, given.by.at(-1) ?? null), 0n);
      const { balance, journal, usage, models, captured } = after;
      expect({ lost: CREDIT - balance, journal: CREDIT - journal, usage, models, captured }).toEqual({
        lost: sum,
        journal: sum,
        usage: sum,
        models: sum,
        captured: sum,
      });
    }),
    { numRuns: rounds(300), endOnFailure: true },
  );
});
