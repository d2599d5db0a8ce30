import { expect, test } from 'vitest';
import { requireNumber } from './numbers.ts';
import { countSegments, segmentBytes } from './segments.ts';
import { optWordOf } from './words.ts';

test.each([
  ['one character', 'a', 'gsm7', 1],
  ['160 of the GSM alphabet', 'a'.repeat(160), 'gsm7', 1],
  ['161', 'a'.repeat(161), 'gsm7', 2],
  ['306: twice 153', 'a'.repeat(306), 'gsm7', 2],
  ['307', 'a'.repeat(307), 'gsm7', 3],
  ['80 euro signs, each two septets', '€'.repeat(80), 'gsm7', 1],
  ['81 euro signs', '€'.repeat(81), 'gsm7', 2],
  ['a euro sign that does not fit into the rest of its segment', `${'a'.repeat(152)}€${'a'.repeat(152)}`, 'gsm7', 3],
  ['umlauts and Greek capitals', 'äöüÄÖÜßΔΦ', 'gsm7', 1],
  ['a grave e with ç, which is not in the alphabet', 'façade', 'ucs2', 1],
  ['a curly quote', '“Hi”', 'ucs2', 1],
  ['70 in UCS-2', 'ж'.repeat(70), 'ucs2', 1],
  ['71 in UCS-2', 'ж'.repeat(71), 'ucs2', 2],
  ['134: twice 67', 'ж'.repeat(134), 'ucs2', 2],
  ['135', 'ж'.repeat(135), 'ucs2', 3],
  ['35 emoji of two units', '🙂'.repeat(35), 'ucs2', 1],
  ['an emoji is not cut in two', `${'ж'.repeat(66)}🙂${'ж'.repeat(66)}`, 'ucs2', 3],
  ['two lines', 'one\ntwo', 'gsm7', 1],
  ['two lines of Windows', 'one\r\ntwo', 'gsm7', 1],
])('%s', async (_name, text, encoding, count) => {
  expect(await countSegments(text)).toEqual({ encoding, count });
});

test('more than ten segments are refused', async () => {
  await expect(countSegments('ж'.repeat(671))).rejects.toThrow('It takes 11 segments; 10 are the most.');
});

test.each([
  ['a', 'a'.repeat(400)],
  ['€', '€[]{}'.repeat(60)],
  ['ж', 'ж'.repeat(200)],
  ['🙂', '🙂 or ☎ '.repeat(40)],
  ['e with two hundred accents', `e${'\u0301'.repeat(200)}`],
])('no segment of %s is longer than a message may be, and none of the text is lost', async (_name, text) => {
  const { encoding, parts } = await segmentBytes(text);
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(encoding === 'gsm7' ? 153 : 134);
  if (encoding === 'ucs2') expect(Buffer.concat(parts).swap16().toString('utf16le')).toBe(text);
});

test.each([
  ...['STOP', 'stop', ' Stop\n', 'STOPALL', 'UNSUBSCRIBE', 'cancel', 'End', 'QUIT'].map(
    (text) => [text, 'stop'] as const,
  ),
  ...['START', 'unstop', 'Yes'].map((text) => [text, 'start'] as const),
  ...['stop it', 'STOP.', 'nonstop', 'no', '', 'yes please', 'quit now'].map((text) => [text, null] as const),
])('%j means %s', (text, word) => {
  expect(optWordOf(text)).toBe(word);
});

test.each([
  ['+12025550123', 'US', '1'],
  ['+4915112345678', 'DE', '49'],
  ['+819012345678', 'JP', '81'],
  ['+80012345678', null, '800'],
])('%s is a number of %s', async (number, country, prefix) => {
  expect(await requireNumber(number, 'to', null)).toEqual({ number, country, prefix });
});

test.each([
  '12025550123',
  '+1 202 555 0123',
  '+1202555',
  '+0012025550123',
  '+49',
  'tel:+12025550123',
  '+1202555012345678',
  '+12025550123;ext=4',
])('%s is none', async (text) => {
  await expect(requireNumber(text, 'to', null)).rejects.toThrow('E.164');
});
