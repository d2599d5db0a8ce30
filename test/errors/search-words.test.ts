// Which words find which events: whole words, their parts, and beginnings of the last word.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ErrorsBench } from './harness.ts';

const frames = [
  { func: 'request', file: 'node_modules/http-kit/index.js', line: 1, in_app: false },
  { func: 'chargeCard', file: 'checkout/price.ts', line: 42 },
  { func: 'main', file: 'server/boot.ts', line: 7 },
];

/** The places where words stand, by a name of their own. */
const events: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  thrown: { exception: { type: 'PaymentDeclined', value: 'card_declined', stacktrace: frames } },
  acronym: { message: 'XMLHttpRequest: parseHTTPResponse failed' },
  digits: { message: 'sha256 mismatch in order42, utf8mb4, oauth2client' },
  dashes: { message: 'retry-after header missing for billing-service.internal' },
  path: { message: 'cannot open /var/log/nginx/access.log' },
  snake: { title: 'USER_NOT_FOUND', message: 'max_retry_count reached' },
  id: { message: 'request 550e8400-e29b-41d4-a716-446655440000 gone' },
  other: { exception: { type: 'GrößenFehler', value: 'naïveTest 数据库 Δέλτα' } },
  sentence: { message: "can't re-read the paid invoice" },
};

const rows: readonly (readonly [q: string, found: readonly string[]])[] = [
  // Parts at a change of case.
  ['payment', ['thrown']],
  ['declined', ['thrown']],
  ['PAYMENT', ['thrown']],
  ['xml', ['acronym']],
  ['http', ['acronym']],
  ['http failed', ['acronym']],
  ['request parse', ['acronym']],
  ['response', ['acronym']],
  ['fehler', ['other']],
  ['größen', ['other']],
  ['naïve', ['other']],
  // Whole words.
  ['PaymentDeclined', ['thrown']],
  ['paymentdeclined', ['thrown']],
  ['card_declined', ['thrown']],
  ['XMLHttpRequest', ['acronym']],
  ['parsehttpresponse failed', ['acronym']],
  ['USER_NOT_FOUND', ['snake']],
  ['max_retry_count', ['snake']],
  ['sha256', ['digits']],
  ['utf8mb4', ['digits']],
  // Parts at underscores, dashes, dots, slashes.
  ['card', ['thrown']],
  ['card declined payment', ['thrown']],
  ['user', ['snake']],
  ['retry', ['dashes', 'snake']],
  ['retry-after', ['dashes']],
  ['billing-service.internal', ['dashes']],
  ['internal billing', ['dashes']],
  ['nginx', ['path']],
  ['/var/log/nginx/access.log', ['path']],
  ['access.log', ['path']],
  ['count max', ['snake']],
  ['re-read', ['sentence']],
  // Parts at digits.
  ['sha', ['digits']],
  ['256 mismatch', ['digits']],
  ['order', ['digits']],
  ['42', ['digits']],
  ['oauth', ['digits']],
  ['client oauth', ['digits']],
  // Where it was thrown: the innermost frame of one's own code.
  ['checkout/price.ts', ['thrown']],
  ['price.ts', ['thrown']],
  ['checkout price', ['thrown']],
  // The last word may be a beginning, of a whole word or of a part.
  ['pay', ['thrown']],
  ['decl', ['thrown']],
  ['card_decl', ['thrown']],
  ['payment decl', ['thrown']],
  ['mism', ['digits']],
  ['invoice pai', ['sentence']],
  ['550e8400', ['id']],
  ['550e', ['id']],
  ['446655440000', ['id']],
  ['数据', ['other']],
  ['δέλ', ['other']],
  // Only the last, and only a beginning.
  ['pay declined', []],
  ['decl payment', []],
  ['yment', []],
  ['eclined', []],
  ['0000', []],
  // Words of other frames, other words, all words.
  ['boot', []],
  ['http-kit', []],
  ['payment invoice', []],
  ['card-declinedx', []],
  ['paymentx', []],
  ['user_found', []],
];

let bench: ErrorsBench;
const names = new Map<string, string>();

beforeAll(async () => {
  bench = await ErrorsBench.start();
  for (const [name, event] of Object.entries(events)) names.set((await bench.capture(event)).event_id, name);
});
afterAll(() => bench.service.stop());

test.each(rows)('%j finds what holds it, and nothing else', async (q, found) => {
  const { items, total } = await bench.search(q);
  expect(items.map(({ event_id }: { event_id: string }) => names.get(event_id)).sort()).toEqual([...found].sort());
  expect(total).toBe(found.length);
});
