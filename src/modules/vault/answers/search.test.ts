// Measured on one core of a small virtual machine, with the forms of a token of 40 characters and pieces of 64 KiB: JSON, base64 or random
// bytes at 6 GB/s or more (0.1 to 0.2 ns a byte); a text of nothing but secrets at 150 MB/s; the worst text known, `aaa…` with the secret
// `aaa…b`, at 90 MB/s, which is 0.7 ms a piece. Preparing the forms takes 0.3 ms for that token, 15 ms and 2 MB for an RSA key in PEM, and
// 190 ms and 33 MB for 8,192 characters of punctuation: callers keep the array of forms.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Automaton } from './automaton.ts';
import { formsOf } from './forms.ts';
import { SecretSearch, searchText } from './search.ts';

const bytesOf = (...texts: string[]) => texts.map((text) => Buffer.from(text));

function searchPieces(forms: readonly Buffer[], pieces: readonly Buffer[]) {
  const search = new SecretSearch(forms);
  const text = Buffer.concat([...pieces.map((piece) => search.push(piece)), search.end()]);
  return { text: text.toString('latin1'), found: search.found };
}

/** Cuts after each of these numbers of bytes, in turn. */
function cut(text: Buffer, lengths: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (let at = 0, i = 0; at < text.length; i++) {
    const length = lengths[i % lengths.length] ?? 1;
    pieces.push(text.subarray(at, at + length));
    at += length;
  }
  return pieces;
}

/** What a search has to give, said in the plainest way: one mark for each run of occurrences that overlap. */
function replacePlainly(forms: readonly Buffer[], text: Buffer): string {
  const spans = forms.flatMap((form) => spansOf(form, text)).sort((a, b) => a.start - b.start);
  let replaced = '';
  let from = 0;
  for (const { start, end } of spans) {
    if (start >= from) replaced += `${text.toString('latin1', from, start)}[secret]`;
    from = Math.max(from, end);
  }
  return replaced + text.toString('latin1', from);
}

function spansOf(form: Buffer, text: Buffer) {
  const spans: { start: number; end: number }[] = [];
  for (let start = text.indexOf(form); start !== -1; start = text.indexOf(form, start + 1)) {
    spans.push({ start, end: start + form.length });
  }
  return spans;
}

describe('a secret in an answer', () => {
  const forms = formsOf(['sk_live_0123456789abcdef']);

  test.each([
    ['sk_live_0123456789abcdef', '[secret]'],
    ['a sk_live_0123456789abcdef b', 'a [secret] b'],
    ['sk_live_0123456789abcdefsk_live_0123456789abcdef', '[secret][secret]'],
    ['sk_live_0123456789abcde', 'sk_live_0123456789abcde'],
    ['sk_live_sk_live_0123456789abcdef', 'sk_live_[secret]'],
    ['Sk_live_0123456789abcdef', 'Sk_live_0123456789abcdef'],
    ['nothing', 'nothing'],
    ['', ''],
  ])('%s becomes %s', (text, expected) => {
    for (const length of [1, 2, 3, 7, 64]) {
      expect(searchPieces(forms, cut(Buffer.from(text), [length]))).toEqual({
        text: expected,
        found: expected.includes('[secret]'),
      });
    }
  });

  test('goes as a whole where its forms overlap, one is in another, or it repeats itself', () => {
    const replaced = (text: string, ...patterns: string[]) =>
      searchPieces(bytesOf(...patterns), [Buffer.from(text)]).text;
    expect(replaced('abcdefgh', 'abcdef', 'cdefgh')).toBe('[secret]');
    expect(replaced('xabcdefx', 'abcdef', 'xabcdefy')).toBe('x[secret]x');
    expect(replaced('xabcdefy', 'abcdef', 'xabcdefy')).toBe('[secret]');
    expect(replaced('abcdefghij', 'abcdef', 'abcdefgh')).toBe('[secret]ij');
    expect(replaced('aaaaaaaaaaaaab', 'aaaaaaaa')).toBe('[secret]b');
    expect(replaced('abcdefabcdefab', 'abcdefab')).toBe('[secret]');
  });

  test('is found in each of its forms', () => {
    const secret = 'p"a/s+w>&o=rd~é~';
    for (const form of formsOf([secret])) {
      const text = Buffer.concat([Buffer.from('{"a":"'), form, Buffer.from('"}')]);
      expect(searchPieces(formsOf([secret]), [text]).text).toMatch(/^\{"a":".{0,3}\[secret\]/);
    }
  });

  test('without forms, everything passes', () => {
    expect(searchPieces([], bytesOf('a', 'b'))).toEqual({ text: 'ab', found: false });
  });

  test('in the value of a header', () => {
    expect(searchText(forms, 'Bearer sk_live_0123456789abcdef')).toEqual({ text: 'Bearer [secret]', found: true });
    expect(searchText(forms, 'é…')).toEqual({ text: 'é…', found: false });
    const accented = formsOf(['pässwörter']);
    expect(searchText(accented, 'a pässwörter')).toEqual({ text: 'a [secret]', found: true });
    const asBytes = Buffer.from('a pässwörter').toString('latin1');
    expect(searchText(accented, asBytes)).toEqual({ text: 'a [secret]', found: true });
  });
});

describe('what is held back', () => {
  const forms = bytesOf('sk_live_0123456789');

  test('is only a suffix that begins a form, so that an event passes at once', () => {
    const search = new SecretSearch(forms);
    expect(search.push(Buffer.from('data: hello\n\n')).toString()).toBe('data: hello\n\n');
    expect(search.push(Buffer.from('data: sk_live')).toString()).toBe('data: ');
    expect(search.push(Buffer.from('_01')).toString()).toBe('');
    expect(search.push(Buffer.from('x\n\n')).toString()).toBe('sk_live_01x\n\n');
    expect(search.push(Buffer.from('sk_live_0123456789')).toString()).toBe('[secret]');
    expect(search.push(Buffer.from('sk')).toString()).toBe('');
    expect(search.end().toString()).toBe('sk');
  });

  test('a secret that ends as it begins is replaced at once', () => {
    const search = new SecretSearch(bytesOf('abcdefab'));
    expect(search.push(Buffer.from('abcdefab')).toString()).toBe('[secret]');
    expect(search.push(Buffer.from('cdefab!')).toString()).toBe('!');
    expect(search.push(Buffer.from('abcdefab')).toString()).toBe('[secret]');
    expect(search.push(Buffer.from('cdefa')).toString()).toBe('');
    expect(search.end().toString()).toBe('cdefa');
  });

  test('a piece without a secret is not copied', () => {
    const piece = Buffer.from('a piece without a secret.');
    expect(new SecretSearch(forms).push(piece).buffer).toBe(piece.buffer);
  });
});

describe('whatever is sent', () => {
  const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 90 })), {
    minLength: 1,
    maxLength: 8,
  });

  test('secrets in any form, between any text, in any pieces are found', () => {
    const secret = fc.string({ unit: fc.constantFrom(...'ab1_-+/=~"\'<&% é'), minLength: 8, maxLength: 40 });
    const secrets = fc.sample(fc.array(secret, { minLength: 1, maxLength: 2 }), { numRuns: 50, seed: 7 });
    const lists = secrets.map(formsOf);
    fc.assert(
      fc.property(fc.constantFrom(...lists), fc.array(fc.nat(), { maxLength: 6 }), lengths, (forms, picks, cuts) => {
        const parts = picks.flatMap((pick) => {
          const form = forms[pick % forms.length] ?? Buffer.alloc(0);
          return [form, form.subarray(0, pick % form.length), Buffer.from(' ab'.slice(pick % 3))];
        });
        const text = Buffer.concat(parts);
        const plainly = replacePlainly(forms, text);
        expect(searchPieces(forms, cut(text, cuts))).toEqual({ text: plainly, found: plainly.includes('[secret]') });
        for (const form of forms) expect(plainly.includes(form.toString('latin1'))).toBe(false);
      }),
      { numRuns: 2000, seed: 7 },
    );
  });

  test('patterns and texts of two letters, where everything overlaps', () => {
    const word = (minLength: number, maxLength: number) =>
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength });
    fc.assert(
      fc.property(
        fc.array(word(2, 9), { minLength: 1, maxLength: 5 }),
        word(0, 80),
        lengths,
        (patterns, text, cuts) => {
          const forms = bytesOf(...patterns);
          expect(searchPieces(forms, cut(Buffer.from(text), cuts)).text).toBe(replacePlainly(forms, Buffer.from(text)));
        },
      ),
      { numRuns: 4000, seed: 7 },
    );
  });
});

describe('hostile texts take linear work', () => {
  /** Reads of the text's bytes, and steps back in the automaton, for each byte. */
  function workPerByte(forms: readonly Buffer[], text: Buffer): number {
    let reads = 0;
    const counting = new Proxy(text, {
      get(bytes, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads++;
        const value = Reflect.get(bytes, key, bytes);
        return typeof value === 'function' ? value.bind(bytes) : value;
      },
    });
    const search = new SecretSearch(forms);
    search.push(counting);
    const automaton = new Automaton(forms);
    const before = automaton.fallbacks;
    let state = 0;
    for (const byte of text) state = automaton.next(state, byte);
    return (reads + automaton.fallbacks - before) / text.length;
  }

  const BYTES = 60_000;
  const fibonacci = (length: number): string => {
    let [before, word] = ['a', 'ab'];
    while (word.length < length) [before, word] = [word, word + before];
    return word.slice(0, length);
  };
  const token = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

  test.each([
    ['a…b in a…', `${'a'.repeat(8191)}b`, 'a'],
    ['ba… in a…', `b${'a'.repeat(8191)}`, 'a'],
    ['a… in a…', 'a'.repeat(8192), 'a'],
    ['aaaaaaaab in a…', 'aaaaaaaab', 'a'],
    ['abab…c in abab…', `${'ab'.repeat(4000)}c`, 'ab'],
    ['Fibonacci words', `${fibonacci(8000)}zz`, fibonacci(BYTES)],
    ['all but the last character', token, `${token.slice(0, -1)}~`],
    ['the last two characters', token, token.slice(-2)],
    ['the token', token, token],
  ])('%s', (_, secret, text) => {
    expect(workPerByte(formsOf([secret]), Buffer.alloc(BYTES, text))).toBeLessThan(5);
  });

  test('in pieces of one byte, too', () => {
    const forms = formsOf([`${'a'.repeat(8191)}b`]);
    const { text } = searchPieces(forms, cut(Buffer.alloc(BYTES, 'a'), [1]));
    expect(text).toBe('a'.repeat(BYTES));
  });

  test('a text that looks like no form is not read byte by byte', () => {
    const prose = Buffer.alloc(BYTES, 'The quick brown fox jumps over the lazy dog. ');
    expect(workPerByte(formsOf([token]), prose)).toBeLessThan(0.2);
  });
});
