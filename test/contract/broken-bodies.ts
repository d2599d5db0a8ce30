// Bodies that are no JSON object, or hide something, and how each is refused.
export type Body = string | Buffer;

const deep = (levels: number) => `{"surprise":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.of(part))));

export const brokenBodies: readonly (readonly [
  what: string,
  body: Body,
  code: string,
  param?: string,
  headers?: Record<string, string>,
])[] = [
  ['an array', '[]', 'INVALID_REQUEST'],
  ['a string', '"text"', 'INVALID_REQUEST'],
  ['null', 'null', 'INVALID_REQUEST'],
  ['a number', '7', 'INVALID_REQUEST'],
  ['half a JSON', '{"surprise":', 'MALFORMED_JSON'],
  ['JSON and more', '{} {}', 'MALFORMED_JSON'],
  ['a comment', '{/* */}', 'MALFORMED_JSON'],
  ['a byte order mark', '\ufeff{}', 'MALFORMED_JSON'],
  ['white space only', '   ', 'MALFORMED_JSON'],
  ['33 levels', deep(33), 'MALFORMED_JSON'],
  ['8,000 levels', deep(8_000), 'MALFORMED_JSON'],
  ['16,000 levels without an end', `{"surprise":${'['.repeat(16_000)}`, 'MALFORMED_JSON'],
  ['invalid UTF-8', bytes('{"surprise":"', 0xff, '"}'), 'MALFORMED_JSON'],
  ['UTF-8 with a surrogate', bytes('{"surprise":"', 0xed, 0xa0, 0x80, '"}'), 'MALFORMED_JSON'],
  ['__proto__', '{"__proto__":{"admin":true}}', 'VALIDATION_FAILED', '__proto__'],
  ['__proto__ inside', '{"surprise":[{"__proto__":1}]}', 'VALIDATION_FAILED', 'surprise[0].__proto__'],
  ['__proto__ with an escape', '{"\\u005f_proto__":1}', 'VALIDATION_FAILED', '__proto__'],
  [
    'constructor.prototype',
    '{"constructor":{"prototype":{"admin":true}}}',
    'VALIDATION_FAILED',
    'constructor.prototype',
  ],
  [
    'constructor.prototype with an escape',
    '{"constructor":{"\\u0070rototype":1}}',
    'VALIDATION_FAILED',
    'constructor.prototype',
  ],
  ['text/plain', '{}', 'UNSUPPORTED_MEDIA_TYPE', undefined, { 'content-type': 'text/plain' }],
  ['a form', 'a=b', 'UNSUPPORTED_MEDIA_TYPE', undefined, { 'content-type': 'application/x-www-form-urlencoded' }],
  ['Latin-1', '{}', 'UNSUPPORTED_MEDIA_TYPE', undefined, { 'content-type': 'application/json; charset=latin1' }],
  [
    'a type with 15,000 spaces',
    '{}',
    'UNSUPPORTED_MEDIA_TYPE',
    undefined,
    { 'content-type': `application/json${' '.repeat(15_000)}x` },
  ],
  ['no type at all', '{}', 'UNSUPPORTED_MEDIA_TYPE', undefined, { 'content-type': ';;' }],
  ['gzip', '{}', 'UNSUPPORTED_MEDIA_TYPE', undefined, { 'content-encoding': 'gzip' }],
];
