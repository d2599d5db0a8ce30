// Zone files in and out: what is read, what is refused with its line, and that nothing is lost on the way.
import { describe, expect, test } from 'vitest';
import type { RecordSet } from '../../src/modules/dns/records/sets.ts';
import { readZoneFile, writeZoneFile } from '../../src/modules/dns/zones/zone-file.ts';
import { randomOf } from '../support/soak.ts';
import { threadMsOf } from '../support/thread-time.ts';

const ZONE = 'acme.test';
const written = { zone: ZONE, serial: 7n, nameServers: ['ns1.dns.test'], nsTtl: 3_600 };
const lines = (content: string) =>
  readZoneFile(content, ZONE).sets.map(({ name, type, ttl, values }) => `${name} ${ttl} ${type} ${values.join(' | ')}`);

describe('is read', () => {
  const files: readonly (readonly [what: string, content: string, sets: readonly string[]])[] = [
    [
      'name, ttl, class and type in either order',
      'a 60 IN A 192.0.2.1\nb IN 60 A 192.0.2.2\nc A 192.0.2.3',
      ['a.acme.test 60 A 192.0.2.1', 'b.acme.test 60 A 192.0.2.2', 'c.acme.test 300 A 192.0.2.3'],
    ],
    [
      'a blank at the beginning: the name before',
      'a A 192.0.2.1\n  A 192.0.2.2\n\tTXT x',
      ['a.acme.test 300 A 192.0.2.1 | 192.0.2.2', 'a.acme.test 300 TXT x'],
    ],
    [
      '$ORIGIN and relative names',
      '$ORIGIN sub\na CNAME @\n$ORIGIN deep.acme.test.\nb CNAME a.sub.acme.test.\nc MX 5 d',
      [
        'a.sub.acme.test 300 CNAME sub.acme.test',
        'b.deep.acme.test 300 CNAME a.sub.acme.test',
        'c.deep.acme.test 300 MX 5 d.deep.acme.test',
      ],
    ],
    [
      '$TTL with units',
      '$TTL 1h30m\na A 192.0.2.1\n$TTL 2d\nb A 192.0.2.1',
      ['a.acme.test 5400 A 192.0.2.1', 'b.acme.test 172800 A 192.0.2.1'],
    ],
    [
      'brackets over lines, comments',
      '@ IN SOA ns1 host ( 1 ; serial\n 2 3\n 4 5 ) ; end\na TXT ( "x"\n "y;z" )',
      ['acme.test 300 TXT xy;z'].map(() => 'a.acme.test 300 TXT xy;z'),
    ],
    ['escapes', 'a TXT "q\\"uo\\\\te" \\065\\066', ['a.acme.test 300 TXT q"uo\\teAB']],
    [
      'CRLF, and no line feed at the end',
      'a A 192.0.2.1\r\nb A 192.0.2.2',
      ['a.acme.test 300 A 192.0.2.1', 'b.acme.test 300 A 192.0.2.2'],
    ],
    ['letters of all scripts', 'bücher TXT größe', ['xn--bcher-kva.acme.test 300 TXT größe']],
    [
      'NS below the zone, not those of the zone',
      '@ NS ns.other.test.\nsub NS ns.other.test.',
      ['sub.acme.test 300 NS ns.other.test'],
    ],
    ['one value twice', 'a A 192.0.2.1\na A 192.0.2.1', ['a.acme.test 300 A 192.0.2.1']],
    ['nothing', '\n\n; only a comment\n', []],
  ];
  test.each(files)('%s', (_, content, sets) => expect(lines(content)).toEqual(sets));
});

describe('is refused, with its line', () => {
  const files: readonly (readonly [content: string, message: RegExp])[] = [
    ['a A 192.0.2.1\n$INCLUDE /etc/passwd', /^Line 2: \$INCLUDE is not taken/],
    ['$GENERATE 1-1000000 a$ A 192.0.2.1', /^Line 1: \$GENERATE is not taken/],
    ['$TTL soon', /^Line 1: soon is no time/],
    ['$ORIGIN example.org.', /^Line 1: \$ORIGIN/],
    [' A 192.0.2.1', /^Line 1: the first record has no name/],
    ['a', /^Line 1: the record has no type/],
    ['\n\na CH TXT x', /^Line 3: class CH/],
    ['a RRSIG x', /^Line 1: type RRSIG is not served/],
    ['a A 192.0.2.1 192.0.2.2', /^Line 1: This is no value of A/],
    ['www.example.org. A 192.0.2.1', /^Line 1: www\.example\.org\. is no name in acme\.test/],
    ['a TXT "open\nb A 192.0.2.1', /^Line 1: a quote is not closed/],
    ['a TXT ( "x"', /bracket is not closed/],
    ['a TXT ) "x"', /brackets do not match/],
    ['a TXT ( ( "x" ) )', /brackets do not match/],
    [`a TXT ${'x'.repeat(5_000)}`, /more than 4096 bytes/],
    [`a TXT ${'x '.repeat(400)}`, /more than 300 words/],
    ['a TXT \\300', /no byte/],
    ['a TXT \\255', /UTF-8/],
    ['a\\.b A 192.0.2.1', /is no name/],
    ['a CNAME b\na CNAME c', /^Line 1: A name has one CNAME/],
    [Array.from({ length: 10_001 }, (_, i) => `n${i} A 192.0.2.1`).join('\n'), /^Line 10001: a zone has at most 10000/],
  ];
  test.each(files)('%#', (content, message) => expect(() => lines(content)).toThrow(message));
});

test('10^5 lines take no longer than a moment', () => {
  const content = `${'; a comment that says something\n'.repeat(60_000)}${'a A 192.0.2.1\n'.repeat(40_000)}`;
  const takenMs = threadMsOf(() => expect(lines(content)).toEqual(['a.acme.test 300 A 192.0.2.1']));
  expect(takenMs).toBeLessThan(1_500);
});

test('hostile texts take linear time', () => {
  for (const piece of ['(', ')', '"', '\\', '"\\', ' ', '\t\n', '( \n', '$', ';', '\\000', 'a ', '"" ']) {
    const spentMs = threadMsOf(() => {
      try {
        readZoneFile(piece.repeat(Math.ceil(1_000_000 / piece.length)), ZONE);
      } catch (error) {
        expect(String(error), piece).toMatch(/Line \d+/);
      }
    });
    expect(spentMs, piece).toBeLessThan(500);
  }
});

test('a zone of 9,000 records is written in slices: others have their turns', async () => {
  const sets = Array.from({ length: 9_000 }, (_, at) => {
    return { name: `h${at}.${ZONE}`, type: 'TXT', ttl: 300, values: ['a text of some length'] } as const;
  });
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const content = await writeZoneFile(written, sets);
  isOver = true;
  expect(content.split('\n').length).toBeGreaterThan(9_000);
  expect(turns).toBeGreaterThan(0);
});

test('what was written is read again the same: 200 random zones', async () => {
  const random = randomOf(11);
  for (let round = 0; round < 200; round += 1) {
    const sets = randomSets(random);
    const { sets: read } = readZoneFile(await writeZoneFile(written, sets), ZONE);
    expect(read).toEqual(sets);
  }
});

type Random = ReturnType<typeof randomOf>;

function randomSets(random: Random): readonly RecordSet[] {
  const text = () => Array.from({ length: 1 + random(300) }, () => ' "\\;()$@äß語#.abc'.charAt(random(17))).join('');
  const values: readonly (readonly [RecordSet['type'], () => string])[] = [
    ['A', () => `192.0.2.${random(256)}`],
    ['AAAA', () => `2001:db8::${(1 + random(65_535)).toString(16)}`],
    ['MX', () => `${random(65_536)} m${random(9)}.example.org`],
    ['TXT', text],
    ['SRV', () => `1 2 ${random(65_536)} .`],
    ['CAA', () => `0 issue "ca${random(9)}.example; x=y"`],
    ['NS', () => `ns${random(9)}.example.org`],
  ];
  const names = Array.from(
    { length: 1 + random(6) },
    (_, i) => `${['n', '_n', '*.n', 'xn--n'][random(4)]}${i}.${ZONE}`,
  );
  return names.map((name) => {
    const usable = name.startsWith('*') ? values.slice(0, 6) : values;
    const [type, value] = usable[random(usable.length)] as (typeof values)[number];
    return { name, type, ttl: 1 + random(86_400), values: [...new Set(Array.from({ length: 1 + random(4) }, value))] };
  });
}
