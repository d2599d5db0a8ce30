import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Secrets } from '../../../core/secrets/secrets.ts';
import { MessageIds } from './message-id.ts';

const ids = new MessageIds(new Secrets('one secret, long enough to be one'));
const others = new MessageIds(new Secrets('another secret, long enough to be one'));
const seqs = fc.bigInt({ min: 0n, max: (1n << 63n) - 1n });
const attempts = fc.integer({ min: 0, max: 2 ** 31 - 1 });

describe('message ids and receipts', () => {
  test('name what they were made for', () => {
    fc.assert(
      fc.property(seqs, attempts, (seq, attempt) => {
        expect(ids.messageId('acct_a', seq)).toMatch(/^qmsg_[A-Za-z0-9]{22}$/);
        expect(ids.parse('acct_a', ids.messageId('acct_a', seq))).toEqual({ seq, attempt: null });
        expect(ids.parse('acct_a', ids.receipt('acct_a', seq, attempt))).toEqual({ seq, attempt });
      }),
    );
  });

  test('name nothing for another account or under another secret', () => {
    fc.assert(
      fc.property(seqs, attempts, (seq, attempt) => {
        for (const text of [ids.messageId('acct_a', seq), ids.receipt('acct_a', seq, attempt)]) {
          expect(ids.parse('acct_b', text)).toBeNull();
          expect(others.parse('acct_a', text)).toBeNull();
        }
      }),
    );
  });

  test('name nothing when any character is changed', () => {
    fc.assert(
      fc.property(seqs, attempts, fc.nat(), fc.constantFrom('0', 'Z', 'a'), (seq, attempt, at, char) => {
        for (const text of [ids.messageId('acct_a', seq), ids.receipt('acct_a', seq, attempt)]) {
          const i = 5 + (at % (text.length - 5));
          const changed = text.slice(0, i) + char + text.slice(i + 1);
          if (changed !== text) expect(ids.parse('acct_a', changed)).toBeNull();
        }
      }),
    );
  });

  test.each(['', 'qmsg_', 'rcpt_', 'qmsg_zzzzzzzzzzzzzzzzzzzzzz', 'rcpt_zzzzzzzzzzzzzzzzzzzzzzzzzzzz', 'qmsg_äöü'])(
    '%j names nothing',
    (text) => {
      expect(ids.parse('acct_a', text)).toBeNull();
    },
  );

  test('ids sort as their messages were published', () => {
    fc.assert(
      fc.property(seqs, seqs, (a, b) => {
        fc.pre(a !== b);
        expect(ids.messageId('acct_a', a) < ids.messageId('acct_a', b)).toBe(a < b);
      }),
    );
  });
});
