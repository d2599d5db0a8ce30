// Linear time on texts that almost match every rule. Measured in a process of its own, as the service runs: vitest rewrites
// imports, which doubles the time. Node 24 on one of two shared, busy cores (walk 1.7 ms): the usual event of 6 KB 0.05-0.06 ms;
// a megabyte of prose or of one character 5-15 ms, of most near misses 10-35 ms; the slowest, 75,000 different names that all
// sound like a secret, 48-54 ms there.
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** A megabyte of each; `#` becomes a number that counts up, so that no two names are the same. */
const units = [
  'a',
  '1',
  '4111',
  '4111 ',
  '4111-1111-1111-1112 ',
  '411111111111111',
  '=',
  ':',
  '==',
  ':=',
  '=>',
  '"',
  "'",
  '\\"',
  '\\',
  '-',
  '--',
  '--token ',
  '--a',
  '@',
  'a@',
  'a@b.',
  'a:b@',
  '://',
  '://a',
  '://a:b',
  '://a:b/c@',
  'http://a',
  '%',
  '%4',
  '%41',
  '%25',
  '%253D',
  '&quot;',
  '&',
  'eyJ',
  'eyJ.',
  'eyJhbGciOiJIUzI1NiJ9',
  'eyJhbGciOiJIUzI1NiJ9.',
  'ghp_',
  'xoxb-',
  'sk-',
  'sk-a',
  'SG.',
  'AKIA',
  'AKIAIOSFODNN7EXAMPL ',
  'SG.aaaaaaaaaaaaaaaaaaaaaa.',
  'Bearer ',
  'Basic ',
  'Basic aaaaaaaa ',
  'basic\t',
  'BEGIN ',
  '-BEGIN ',
  '-----BEGIN PRIVATE KEY',
  '-----BEGIN PRIVATE KEY-----',
  '-----END ',
  'Private-Lines:',
  'password',
  'password=',
  'password:',
  'password: ',
  'password ',
  'password "',
  "password='",
  'password=\\"',
  'password=[',
  'password={',
  'password=a,',
  'password=a&b',
  'password=must ',
  'pass: ',
  'key: ',
  'api key ',
  'api key: ',
  '<password>',
  '<password',
  '<a:password>',
  'token =>',
  'Cookie: ',
  'Cookie: a\n',
  'cookie=',
  'Unexpected token: ',
  'a=1&',
  'a:',
  'a: b, ',
  '1.1.',
  '255.255.255.255.',
  '1:',
  '::',
  'ab:',
  'abcd:abcd:',
  'a1B2',
  'Ab3/',
  'Ab3/Zx9+',
  'é',
  'é@',
  ' ',
  '\n',
  '\t=',
  '   =',
  '?a=b',
  '{"a":',
  '"password"  ',
  'discord.com/api/webhooks/',
  '0123456789:AA',
  'MII',
];
const counted = ['k#=1 ', 'key#=1 ', 'my_token#_x=v ', 'token_type#:1 ', '"a#":1,', 'u#@b#.de ', '1.2.3.#, '];
const blanks = [`password=${' '.repeat(100_000)}`, `password${' '.repeat(1000)}`];

// Bounds time: a text is scrubbed on the event loop.
/** Milliseconds of processor time: three times what is aimed at on an idle core. */
const LIMITS = { text: 3 * 50, members: 3 * 50, sameNames: 3 * 100, usual: 3 * 0.1 };
/** What a bare walk over a megabyte takes there. */
const IDLE_WALK_MS = 1;
const ATTEMPTS = 8;

interface Slow {
  readonly what: string;
  readonly ms: readonly number[];
}

/**
 * What the child runs. It prints what missed its limit each time: other processes and the compiler take their share now and then. It
 * measures thread time, divided by how much longer than on the idle core a bare walk takes right after: while the core is shared,
 * everything takes longer by about the same factor.
 */
const program = `
  import { scrubEvent } from ${JSON.stringify(new URL('../../src/lib/scrub/scrub.ts', import.meta.url).href)};
  const { units, usual, limits, idleWalkMs, attempts } = JSON.parse(process.argv[1]);
  const MEGABYTE = 1 << 20;
  const slow = [];
  let measured = 0;
  function threadMs(run, count = 1) {
    const before = process.threadCpuUsage();
    for (let i = 0; i < count; i += 1) run();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000 / count;
  }
  function judge(what, limit, run, count) {
    const ms = [];
    measured += 1;
    while (ms.length < attempts) {
      const taken = threadMs(run, count);
      const stretch = taken < limit ? 1 : Math.max(1, threadMs(walk, 20) / idleWalkMs);
      if (taken / stretch < limit) return;
      ms.push(Math.round(taken / stretch * 100) / 100);
    }
    slow.push({ what, ms });
  }
  const textOf = (unit) => {
    const parts = [];
    for (let size = 0, i = 0; size < MEGABYTE; i += 1) size += parts[parts.push(unit.replaceAll('#', i.toString(36))) - 1].length;
    return Buffer.from(parts.join('')).toString();
  };
  const members = (name) => Object.fromEntries(Array.from({ length: 40000 }, (_, i) => [name(i), 'value ' + i]));
  const walked = textOf('walk');
  let sum = 0;
  function walk() {
    for (let i = 0; i < walked.length; i += 1) sum = (sum + walked.charCodeAt(i)) | 0;
  }
  for (const unit of units) {
    const text = textOf(unit);
    for (const event of [{ message: text }, { request: { text } }]) {
      judge(unit.slice(0, 40), limits.text, () => scrubEvent(event));
    }
  }
  const extra = members((i) => 'name' + i + 'Token');
  judge('members', limits.members, () => scrubEvent({ extra }));
  const user = members((i) => 'u' + i + '@example.com');
  judge('same names', limits.sameNames, () => scrubEvent({ user }));
  judge('usual', limits.usual, () => scrubEvent(usual), 500);
  console.log(JSON.stringify({ measured, slow }));
`;

test('megabytes made to be slow take less than 50 ms each, a usual event of 5 KB less than 0.1 ms', () => {
  const usual = usualEvent();
  expect(JSON.stringify(usual).length).toBeGreaterThan(5_000);
  const texts = [...units, ...counted, ...blanks];
  const input = JSON.stringify({ units: texts, usual, limits: LIMITS, idleWalkMs: IDLE_WALK_MS, attempts: ATTEMPTS });
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', program, input], { encoding: 'utf8' });
  const { measured, slow }: { measured: number; slow: readonly Slow[] } = JSON.parse(output);
  expect(slow).toEqual([]);
  expect(measured).toBe(2 * texts.length + 3);
}, 120_000);

function usualEvent() {
  const frame = (i: number) => ({
    func: `handleRequest${i}`,
    file: `/usr/src/app/node_modules/@scope/server/build/src/router/layer-${i}.js`,
    line: 100 + i,
    col: 12,
    in_app: i % 2 === 0,
    context_pre: ['  const started = Date.now();', '  for (const layer of stack) {'],
    context_line: '    const result = await layer.handle(request, response, next);',
    context_post: ['    if (result === undefined) continue;', '  }'],
    vars: i % 4 === 0 ? { attempt: i, path: '/v1/orders', started: '2026-01-02T03:04:05Z' } : null,
  });
  return {
    title: 'TypeError: cannot read total',
    message: "Cannot read properties of undefined (reading 'total')",
    exception: {
      type: 'TypeError',
      value: "Cannot read properties of undefined (reading 'total')",
      stacktrace: Array.from({ length: 11 }, (_, i) => frame(i)),
    },
    breadcrumbs: Array.from({ length: 8 }, (_, i) => ({
      at: '2026-01-02T03:04:05.678Z',
      category: 'http',
      message: `GET https://api.example.com/v1/orders/${i}?page=2`,
      level: 'info',
      data: { status: 200, duration_ms: 12 + i },
    })),
    tags: { region: 'eu', shop: 'b', node: 'v24.1.0' },
    context: { service: 'shop', pod: 'shop-7d9f8b6c5-x2x4z' },
    extra: { order: 'ord_8342', cart: { items: 2, total: 19.9 } },
    request: { method: 'POST', url: 'https://shop.example.com/pay', headers: { 'user-agent': 'Mozilla/5.0' } },
    user: null,
    user_id: 'u-1',
  };
}
