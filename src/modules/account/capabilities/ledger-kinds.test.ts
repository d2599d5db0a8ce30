import { expect, test } from 'vitest';
import { ledgerKinds } from './ledger-kinds.ts';

test('entries of the ledger are told in words', () => {
  const { grant, charge, hold, release } = ledgerKinds;
  const of = { capability: 'video.generate', source: null };
  expect([grant.words({ ...of, source: 'topup' }), grant.words(of)]).toEqual(['Paid by card', 'Credit']);
  expect([charge, hold, release].map(({ words }) => words(of))).toEqual([
    ...['video.generate', 'Reserved for video.generate', 'Reserve for video.generate released'],
  ]);
});
