// XML of requests and answers.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readComplete, readCreateBucket, readDelete, readTagging } from './bodies.ts';
import { nameOf } from './failures.ts';
import { readLifecycle, readNotification } from './settings.ts';
import { readXml, textOf, urlEncoded, xmlDocument } from './xml.ts';

const BOUNDS = { bytesMax: 100_000, partsMax: 1_000 };

const bytes = (text: string) => Buffer.from(text);
const failure = (run: () => unknown) => {
  try {
    return run();
  } catch (error) {
    return nameOf(error as never)[0];
  }
};
const keysIn = (...keys: string[]) => {
  const objects = keys.map((key) => `<Object><Key>${key}</Key></Object>`).join('');
  return failure(() => readDelete.run(bytes(`<Delete>${objects}</Delete>`)));
};

describe('keys to delete', () => {
  test.each([
    ['  a  ', '  a  '],
    ['007', '007'],
    ['1e5', '1e5'],
    ['true', 'true'],
    ['a&amp;b', 'a&b'],
    ['&amp;lt;', '&lt;'],
    ['&lt;&gt;&quot;&apos;', '<>"\''],
    ['&#13;&#xA;&#x1F600;', '\r\n😀'],
    ['&#1;', '\u0001'],
    ['é e\u0301', 'é e\u0301'],
    ['<![CDATA[<a>&amp;]]>b', '<a>&amp;b'],
    ['a<!-- no -->b', 'ab'],
  ])('%s is %o', (written, key) => {
    expect(keysIn(written)).toEqual({ objects: [{ key, conditions: {} }], isQuiet: false });
  });

  test('are as many as there are, also one', () => {
    expect(keysIn('a', 'b')).toMatchObject({ objects: [{ key: 'a' }, { key: 'b' }] });
    expect(keysIn(...Array.from({ length: 1_000 }, (_, i) => `${i}`))).toMatchObject({ objects: { length: 1_000 } });
    expect(keysIn(...Array.from({ length: 1_001 }, (_, i) => `${i}`))).toBe('MalformedXML');
    expect(keysIn()).toBe('MalformedXML');
    const spaced =
      '<?xml version="1.0"?>\n<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\n <Quiet>true</Quiet> <Object> <Key>a</Key>\n</Object> </Delete>\n';
    expect(readDelete.run(bytes(spaced))).toEqual({ objects: [{ key: 'a', conditions: {} }], isQuiet: true });
  });

  test.each([
    ['', 'MalformedXML'],
    ['no xml', 'MalformedXML'],
    ['<Delete>', 'MalformedXML'],
    ['<Delete><Object><Key>a</Object></Key></Delete>', 'MalformedXML'],
    ['<Remove><Object><Key>a</Key></Object></Remove>', 'MalformedXML'],
    ['<Delete><Object><Key></Key></Object></Delete>', 'MalformedXML'],
    ['<Delete><Object/></Delete>', 'MalformedXML'],
    ['<Delete><Object><Key>a</Key><Key>b</Key></Object></Delete>', 'MalformedXML'],
    ['<Delete><Object><Key>&unknown;</Key></Object></Delete>', 'MalformedXML'],
    ['<Delete><Object><Key>&#xD800;</Key></Object></Delete>', 'MalformedXML'],
    ['<Delete><Object><Key>&#x110000;</Key></Object></Delete>', 'MalformedXML'],
    ['<Delete><Object><Key>a</Key><VersionId>1</VersionId></Object></Delete>', 'InvalidArgument'],
    ['<Delete><Object><Key>a</Key><Size>1.5</Size></Object></Delete>', 'InvalidArgument'],
    ['<Delete><Object><Key>a</Key><Size></Size></Object></Delete>', 'InvalidArgument'],
    ['<Delete><Object><Key>a</Key><LastModifiedTime>soon</LastModifiedTime></Object></Delete>', 'InvalidArgument'],
    ['<Delete><Object><Key>a</Key><ETag>x</ETag><ETag>y</ETag></Object></Delete>', 'MalformedXML'],
    [`<Delete><Object><Key>${'x'.repeat(1_025)}</Key></Object></Delete>`, 'KeyTooLongError'],
  ])('%s is %s', (body, name) => {
    expect(failure(() => readDelete.run(bytes(body)))).toBe(name);
  });

  test('may have conditions, each of its own', () => {
    const body = `<Delete><Object><Key>a</Key><ETag>&quot;x-2&quot;</ETag><Size>5</Size>
      <LastModifiedTime>Sun, 29 Nov 2026 12:00:00 GMT</LastModifiedTime></Object><Object><Key>b</Key><ETag>*</ETag></Object></Delete>`;
    const ifUpdatedMs = Date.UTC(2026, 10, 29, 12);
    expect(readDelete.run(bytes(body)).objects).toEqual([
      { key: 'a', conditions: { ifMatch: ['x-2'], ifBytes: 5n, ifUpdatedMs } },
      { key: 'b', conditions: { ifMatch: ['*'] } },
    ]);
  });

  test('are none of what expands, nests, or is no UTF-8', () => {
    const lol = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>';
    expect(failure(() => readXml(bytes(`${lol}<Delete>&b;</Delete>`), 'Delete', BOUNDS))).toBe('MalformedXML');
    const external = '<!doctype x SYSTEM "file:///etc/passwd"><Delete/>';
    expect(failure(() => readXml(bytes(external), 'Delete', BOUNDS))).toBe('MalformedXML');
    const deep = `<Delete>${'<a>'.repeat(50)}${'</a>'.repeat(50)}</Delete>`;
    expect(failure(() => readXml(bytes(deep), 'Delete', BOUNDS))).toBe('MalformedXML');
    expect(failure(() => readXml(Buffer.of(0x3c, 0x61, 0xff, 0x2f, 0x3e), 'a', BOUNDS))).toBe('MalformedXML');
  });
});

describe('parts to complete an upload with', () => {
  const complete = (parts: string) =>
    failure(() => readComplete.run(bytes(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`)));
  const part = (number: number | string, more = '') =>
    `<Part><PartNumber>${number}</PartNumber><ETag>&quot;e${number}&quot;</ETag>${more}</Part>`;

  test('are read with tags without quotes and checksums', () => {
    expect(complete(part(1, '<ChecksumCRC32>rN/UDw==</ChecksumCRC32>') + part(10_000))).toEqual([
      { partNumber: 1, etag: 'e1', checksums: { crc32: 'rN/UDw==' } },
      { partNumber: 10_000, etag: 'e10000', checksums: {} },
    ]);
  });

  test.each([
    ['', 'MalformedXML'],
    [part(2) + part(1), 'InvalidPartOrder'],
    [part(1) + part(1), 'InvalidPartOrder'],
    [part(0), 'InvalidArgument'],
    [part(10_001), 'InvalidArgument'],
    [part('1.5'), 'InvalidArgument'],
    ['<Part><PartNumber>1</PartNumber></Part>', 'MalformedXML'],
    [part(1, '<ChecksumCRC32>xx</ChecksumCRC32>'), 'InvalidRequest'],
  ])('%s are %s', (parts, name) => {
    expect(complete(parts)).toBe(name);
  });
});

describe('settings of a bucket', () => {
  const lifecycle = (rule: string) =>
    failure(() => readLifecycle(bytes(`<LifecycleConfiguration><Rule>${rule}</Rule></LifecycleConfiguration>`)));
  const enabled = '<Status>Enabled</Status>';
  const days = '<Expiration><Days>30</Days></Expiration>';
  const abort =
    '<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>';
  const id = expect.stringMatching(/^rule_/);
  const rule = { id, isEnabled: true, form: 'none', prefix: '', expireDays: 30, abortDays: null };

  test.each([
    [
      `<ID>x</ID><Filter><Prefix>logs/ </Prefix></Filter>${enabled}${days}`,
      [{ ...rule, id: 'x', form: 'filter_prefix', prefix: 'logs/ ' }],
    ],
    [`<Prefix>tmp</Prefix>${enabled}${days}`, [{ ...rule, form: 'prefix', prefix: 'tmp' }]],
    [`<Filter></Filter>${enabled}${days}`, [{ ...rule, form: 'filter' }]],
    [`${enabled}${abort}`, [{ ...rule, expireDays: null, abortDays: 7 }]],
    [`<Status>Disabled</Status>${days}${abort}`, [{ ...rule, isEnabled: false, abortDays: 7 }]],
    [`${enabled}`, 'InvalidRequest'],
    [`${enabled}<Expiration><Date>2030-01-01</Date></Expiration>`, 'NotImplemented'],
    [`${enabled}<Expiration><Days>0</Days></Expiration>`, 'InvalidArgument'],
    [`${enabled}<Expiration><Days>1.5</Days></Expiration>`, 'MalformedXML'],
    [`<Filter><Tag><Key>a</Key><Value>b</Value></Tag></Filter>${enabled}${days}`, 'NotImplemented'],
    [`${enabled}${days}<Transition><Days>1</Days></Transition>`, 'NotImplemented'],
    [`<Status>on</Status>${days}`, 'MalformedXML'],
  ])('a lifecycle rule %s is %o', (written, due) => {
    expect(lifecycle(written)).toEqual(due);
  });

  const notification = (content: string) =>
    failure(() =>
      readNotification(bytes(`<NotificationConfiguration>${content}</NotificationConfiguration>`), (arn) =>
        arn.slice(4),
      ),
    );
  const queue = (...events: string[]) =>
    `<QueueConfiguration><Queue>arn:jobs</Queue>${events.map((event) => `<Event>${event}</Event>`).join('')}</QueueConfiguration>`;

  test.each([
    ['', null],
    [queue('s3:ObjectCreated:*'), { queue: 'jobs', events: ['created'] }],
    [queue('s3:ObjectRemoved:*', 's3:ObjectCreated:*'), { queue: 'jobs', events: ['deleted', 'created'] }],
    [queue(), 'MalformedXML'],
    [queue('s3:ObjectCreated:Put'), 'NotImplemented'],
    [queue('s3:ObjectCreated:*') + queue('s3:ObjectRemoved:*'), 'NotImplemented'],
    ['<TopicConfiguration/>', 'NotImplemented'],
  ])('notifications %s are %o', (content, due) => {
    expect(notification(content)).toEqual(due);
  });

  test('tags are pairs, each key once', () => {
    const tagging = (set: string) => failure(() => readTagging(bytes(`<Tagging><TagSet>${set}</TagSet></Tagging>`)));
    const tag = (key: string, value: string) => `<Tag><Key>${key}</Key><Value>${value}</Value></Tag>`;
    expect(tagging(tag('a', ' 1 ') + tag('b', ''))).toEqual({ a: ' 1 ', b: '' });
    expect(tagging('')).toEqual({});
    expect(tagging(tag('a', '1') + tag('a', '2'))).toBe('InvalidTag');
    expect(tagging(tag('x'.repeat(129), '1'))).toBe('InvalidTag');
    expect(tagging(tag('x', 'v'.repeat(257)))).toBe('InvalidTag');
    expect(tagging(Array.from({ length: 11 }, (_, i) => tag(`k${i}`, '')).join(''))).toBe('InvalidTag');
    expect(failure(() => readTagging(bytes('<Tagging/>')))).toBe('MalformedXML');
  });

  test('a new one has a region at most', () => {
    const create = (text: string) => readCreateBucket(bytes(text));
    const within = (inner: string) => `<CreateBucketConfiguration>${inner}</CreateBucketConfiguration>`;
    const inRegion = (region: string) => within(`<LocationConstraint>${region}</LocationConstraint>`);
    expect(create('')).toBeNull();
    expect(create(inRegion(''))).toBeNull();
    expect(create(inRegion('eu-west-1'))).toBe('eu-west-1');
    for (const region of ['a b', 'a\nb', 'x'.repeat(64)])
      expect(failure(() => create(inRegion(region)))).toBe('InvalidLocationConstraint');
    expect(failure(() => create(within('<Location><Type>x</Type></Location>')))).toBe('NotImplemented');
  });
});

describe('an answer', () => {
  test('leaves out what is undefined, and repeats the entries of a list', () => {
    expect(xmlDocument('A', { B: 'x', C: undefined, D: [1, 2].map((n) => ({ E: n })), F: true })).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<A xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><B>x</B><D><E>1</E></D><D><E>2</E></D><F>true</F></A>',
    );
  });

  test('is read back as it was written, whatever its texts are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
        expect(textOf(readXml(bytes(xmlDocument('Error', { K: text })), 'Error', BOUNDS), 'K')).toBe(text);
      }),
      { examples: [['<&>"\'\r\n\t'], ['&amp;'], [']]>'], ['\u0001'], ['\ufffe'], [' ']] },
    );
  });

  test('writes keys for `encoding-type=url` so that both ways to decode them agree', () => {
    expect(urlEncoded('a b+c/é%(*)~_-.')).toBe('a%20b%2Bc/%C3%A9%25%28%2A%29~_-.');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(decodeURIComponent(urlEncoded(text))).toBe(text);
        expect(decodeURIComponent(urlEncoded(text).replaceAll('+', ' '))).toBe(text);
      }),
    );
  });
});
