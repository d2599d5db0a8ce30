// One secret of every kind, in every place of an event, and texts that only look like one. Keys of providers are put together from
// parts, so that no scanner takes this file for a leak.

export const key = (...parts: string[]) => parts.join('');
export const random = 'x7Kq2mWv9ZtB4nRj8LsP3cYd6HfG1aTe5UoQ';
const jwt = key('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxIn0', '.dBjftJeZ4CVP-mBhgK1');
const pem = `-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nk9Xc0dEfGh\n-----END RSA PRIVATE KEY-----`;
const frame = (fields: object) => ({ exception: { type: 'E', value: 'v', stacktrace: [{ func: 'f', ...fields }] } });
const crumb = (fields: object) => ({ breadcrumbs: [{ category: 'http', message: 'm', ...fields }] });

// biome-ignore lint/suspicious/noExplicitAny: parts of events and answers are taken out by name, whatever their shape
export type Data = any;
type Fields = Record<string, unknown>;

/** `event` is what errors.capture takes; nothing of `secrets` may be left of it. */
export type Planted = [name: string, event: Record<string, unknown>, secrets: string | string[]];

export const byName: Planted[] = [
  ['password in extra', { extra: { password: 'swordfish' } }, 'swordfish'],
  ['a number as password', { extra: { userPassword: 48_151_623 } }, '48151623'],
  ['passwd, upper case', { context: { DB_PASSWD: 'swordfish' } }, 'swordfish'],
  ['smtp_pass', { extra: { smtp_pass: 'swordfish' } }, 'swordfish'],
  ['camel case, deep', { extra: { a: [{ b: { clientSecret: 'swordfish' } }] } }, 'swordfish'],
  ['x-api-key header', { request: { headers: { 'X-Api-Key': 'swordfish' } } }, 'swordfish'],
  [
    'authorization header, two values',
    { request: { headers: { authorization: ['Basic Zm9vOmJhcg', 'foo bar'] } } },
    ['Zm9vOmJhcg', 'foo bar'],
  ],
  [
    'header pairs',
    {
      request: {
        headers: [
          ['Host', 'a'],
          ['Authorization', 'opaque-1'],
        ],
      },
    },
    'opaque-1',
  ],
  ['raw headers', { extra: { rawHeaders: ['Host', 'a', 'Cookie', 'crumbs', 'Accept', '*/*'] } }, 'crumbs'],
  ['header records', { extra: { headers: [{ name: 'set-cookie', value: 'crumbs' }] } }, 'crumbs'],
  ['cookies as object', { request: { cookies: { a: 'crumbs', b: { c: 'dough' } } } }, ['crumbs', 'dough']],
  ['session id', frame({ vars: { sessionId: 'sess-opaque' } }), 'sess-opaque'],
  ['connect.sid', { request: { data: { 'connect.sid': 's:opaque' } } }, 's:opaque'],
  ['csrf token', { request: { data: { csrfmiddlewaretoken: 'opaque-2' } } }, 'opaque-2'],
  ['cvv as number', { request: { data: { cvv: 987_604_321 } } }, '987604321'],
  ['private_key member', { context: { private_key: 'opaque-3' } }, 'opaque-3'],
  ['encryption key', { extra: { ENCRYPTION_KEY: 'opaque-3' } }, 'opaque-3'],
  ['credentials object', { extra: { credentials: { user: 'root', words: ['swordfish'] } } }, 'swordfish'],
  ['map of tokens', { extra: { tokens: { '9f8a7c6b5d4e3f2a1b': { uses: 1 } } } }, '9f8a7c6b5d4e3f2a1b'],
  ['tag', { tags: { access_token: 'opaque-4' } }, 'opaque-4'],
  ['private JWK', { extra: { jwk: { kty: 'OKP', x: 'public', d: 'opaque-5' } } }, 'opaque-5'],
  [
    'in a chain of exceptions',
    { exception: { chain: [{ stacktrace: [{ vars: { pwd: 'swordfish' } }] }] } },
    'swordfish',
  ],
  ['command line', frame({ vars: { argv: ['node', 'x', '--token', 'opaque-6'] } }), 'opaque-6'],
  ['a name in another script', { extra: { Пароль: 'swordfish' } }, 'swordfish'],
  ['one-time code', { request: { data: { verificationCode: '314159' } } }, '314159'],
];

export const byText: Planted[] = [
  ['password=', { message: 'login failed: user=bob password=swordfish, retrying' }, 'swordfish'],
  ['password with marks in it', { message: 'password=sword,fi&sh;x end' }, ['sword,', 'fi&sh', 'sh;x']],
  ['api_key: ', { message: 'using api_key: opaque-1' }, 'opaque-1'],
  ['API key: ', { message: 'Invalid API key: opaque-1' }, 'opaque-1'],
  ['quoted', { message: `connect(user='bob', password='sword fish')` }, 'sword fish'],
  ['behind the word', { message: `Access denied, wrong password 'sword fish'` }, 'sword fish'],
  ['JSON in text', { message: '{"user":"bob","password":"sword \\"fish"}' }, ['sword ', 'fish']],
  ['JSON in JSON', { extra: { body: '{"raw":"{\\"password\\":\\"sword fish\\",\\"a\\":1}"}' } }, 'sword fish'],
  ['laid out, in JSON', { extra: { a: '{"a":"{\\n \\"pwd\\":\\n \\"swo rdfish\\"}"}' } }, 'swo rdfish'],
  ['laid out JSON', { extra: { body: '{\n  "client_secret":\n    "sword fish"\n}' } }, 'sword fish'],
  ['number in JSON', { message: '{"pin":"1","password":480000}' }, '480000'],
  ['list in JSON', { message: '{"passwords":["swordfish","catfish"]}' }, ['swordfish', 'catfish']],
  ['Ruby', { message: '{"password"=>"sword fish", :id=>1}' }, 'sword fish'],
  ['PHP', { message: 'Array ( [password] => swordfish )' }, 'swordfish'],
  ['Python', { message: "{'auth_token': u'sword fish'}" }, 'sword fish'],
  ['Go', frame({ context_line: 'password := "sword fish"' }), 'sword fish'],
  ['XML', { message: '<user><wsse:Password>sword fish</wsse:Password></user>' }, 'sword fish'],
  ['form body', { request: { data: 'user=bob&password=swordfish&x=1' } }, 'swordfish'],
  ['query string', { request: { url: 'https://a.example/x?access_token=opaque-1&y=1' } }, 'opaque-1'],
  ['percent-encoded', { message: 'next=%2Fx%3Ftoken%3Dopaque-1%26y%3D1' }, 'opaque-1'],
  ['encoded twice', { message: 'next=%252Fx%253Ftoken%253Dopaque-1' }, 'opaque-1'],
  ['HTML', { message: '{&quot;password&quot;:&quot;sword fish&quot;}' }, 'sword fish'],
  ['flag', { message: 'failed: psql --password swordfish --host db' }, 'swordfish'],
  ['flag with =', { message: 'failed: deploy --api-token=opaque-1' }, 'opaque-1'],
  ['environment', { message: 'export PGPASSWORD=swordfish' }, 'swordfish'],
  ['header line', { message: 'GET /\r\nAuthorization: Custom one twofold\r\nHost: a' }, ['Custom one', 'twofold']],
  ['cookie line', { message: 'Cookie: a=crumbs; b=dough\nHost: a' }, ['crumbs', 'dough']],
  ['set-cookie line', { extra: { lines: ['Set-Cookie: sid=crumbs; Path=/; HttpOnly'] } }, 'crumbs'],
  ['curl', { message: `curl -H 'Cookie: a=crumbs; b=dough' -d x` }, ['crumbs', 'dough']],
  ['Bearer', { message: 'sent Bearer abc123def456 to a' }, 'abc123def456'],
  ['Basic', { message: 'sent Basic Ym9iOnN3b3JkZmlzaA== to a' }, 'Ym9iOnN3b3JkZmlzaA'],
  [
    'Azure',
    { message: 'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=opaque+1/2==;EndpointSuffix=x' },
    'opaque+1/2',
  ],
  ['ADO', { message: 'Server=db;User Id=bob;Password=swordfish;Encrypt=true' }, 'swordfish'],
  ['title', { title: 'password=swordfish' }, 'swordfish'],
  ['exception value', { exception: { type: 'E', value: 'token=opaque-1', stacktrace: [] } }, 'opaque-1'],
  ['exception type', { exception: { type: 'E secret=opaque-1', value: '', stacktrace: [] } }, 'opaque-1'],
  ['release', { release: 'v1?token=opaque-1' }, 'opaque-1'],
  ['file of a frame', frame({ file: 'https://a.example/app.js?token=opaque-1' }), 'opaque-1'],
  ['breadcrumb', crumb({ message: 'GET /?api_key=opaque-1' }), 'opaque-1'],
  ['name of a member', { extra: { [`Bearer ${random}`]: 1 } }, random],
];

export const byLook: Planted[] = [
  ['URL', { message: 'connect postgres://bob:swordfish@db:5432/x' }, 'swordfish'],
  ['URL with @ in the password', { message: 'redis://:sword@fish@db/0' }, ['sword', 'fish']],
  ['URL with / in the password', { message: 'amqp://bob:sword/fish@mq/x' }, ['sword', 'fish']],
  ['token as user', { message: `git clone https://${random}:x-oauth-basic@git.example/x` }, random],
  ['data source name', { message: 'bob:swordfish@tcp(db:3306)/x' }, 'swordfish'],
  ['proxy', { message: 'via bob:swordfish@proxy.example:8080' }, 'swordfish'],
  ['PEM', { message: `cannot read ${pem} here` }, ['MIIEpAIBAAKCAQEA7bq', 'k9Xc0dEfGh']],
  ['PEM with \\n', { extra: { sa: pem.replaceAll('\n', '\\n') } }, ['MIIEpAIBAAKCAQEA7bq', 'k9Xc0dEfGh']],
  ['PEM without an end', { message: pem.slice(0, 60) }, 'MIIEpAIBAAKCAQEA7bq'],
  ['PEM in a list', { extra: { lines: pem.split('\n') } }, ['MIIEpAIBAAKCAQEA7bq', 'k9Xc0dEfGh']],
  [
    'PEM over the lines of a frame',
    frame({ context_pre: pem.split('\n').slice(0, 2), context_line: 'k9Xc0dEfGh', context_post: ['tail9', 'x'] }),
    ['MIIEpAIBAAKCAQEA7bq', 'k9Xc0dEfGh', 'tail9'],
  ],
  ['PGP', { message: '-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----' }, 'lQOYBF'],
  ['OpenSSH body', { message: key('b3BlbnNzaC1r', 'ZXktdjEAAAAABG5vbmU') }, 'AAABG5vbmU'],
  ['PuTTY', { message: 'Public-Lines: 1\nAAAA\nPrivate-Lines: 1\nopaque1\nPrivate-MAC: 00' }, 'opaque1'],
  ['JWT', { message: `bad ${jwt}.` }, ['eyJzdWIiOiIxIn0', 'dBjftJeZ4CVP']],
  ['JWT in a URL', { request: { url: `https://a.example/confirm/${jwt}/x` } }, 'dBjftJeZ4CVP'],
  ['card', { message: 'card 4242424242424242 declined' }, '4242424242424242'],
  ['card with dashes', { message: 'card 5555-5555-5555-4444 declined' }, '5555-5555-5555-4444'],
  ['card with spaces', { message: 'card 3782 822463 10005 declined' }, '822463'],
  ['card with encoded spaces', { message: 'card=4111%201111%201111%201111' }, '1111%201111'],
  ['card as number', { extra: { n: 4_242_424_242_424_242 } }, '4242424242424242'],
  ['card in JSON', { message: '{"n":6011111111111117}' }, '6011111111111117'],
  ['AWS id', { message: `key ${key('AKIA', 'IOSFODNN7EXAMPLE')}` }, 'IOSFODNN7EXAMPLE'],
  ['AWS temporary id', { message: `key ${key('ASIA', 'IOSFODNN7EXAMPLE')}` }, 'IOSFODNN7EXAMPLE'],
  ['AWS secret', { message: key('tried wJalrXUtnFEMI', '/K7MDENG/bPxRfiCYEXAMPLE1K2 there') }, 'bPxRfiCYEXAMPLE1K2'],
  ['member named by a key', { context: { map: { [key('gh', 'p_', random)]: { scopes: 1 } } } }, random],
  ['e-mail in user', { user: { id: 7, contact: 'Bob <bob@example.com>' } }, 'bob@example.com'],
  ['e-mail as name', { user: { seen: { 'bob@example.com': 1 } } }, 'bob@example.com'],
  ['e-mail in a URL', { request: { url: '/x?u=bob%40example.com' } }, 'bob%40example'],
  ['e-mail in vars', frame({ vars: { who: 'bob.o+x@mail.example.org' } }), 'bob.o+x'],
  ['e-mail field', { user: { email: 'not quite an address' } }, 'not quite'],
  [
    'IPv4 in a header',
    { request: { headers: { 'X-Forwarded-For': '203.0.113.7, 10.1.2.3' } } },
    ['203.0.113.7', '10.1.2.3'],
  ],
  ['IPv4 in breadcrumbs', crumb({ data: { url: 'http://203.0.113.7/x' } }), '203.0.113.7'],
  ['IPv6', { user: { from: 'at 2001:db8::8a2e:370:7334.' } }, '2001:db8'],
  ['IPv6 in brackets', { request: { url: 'http://[2001:db8::1]:80/' } }, '2001:db8'],
  ['key in user_id', { user_id: key('gh', 'p_', random) }, random],
];

const provider = (name: string, secret: string): Planted => [
  name,
  { message: `call with ${secret} failed` },
  secret.slice(-16),
];

export const byPrefix: Planted[] = [
  provider('Quartermaster', key('qm_', 'live_', random, random)),
  ...['p', 'o', 'u', 's', 'r'].map((kind) => provider(`GitHub ${kind}`, key('gh', kind, '_', random))),
  provider('GitHub fine-grained', key('github', '_pat_', random, '_', random)),
  provider('GitLab', key('gl', 'pat-', random.slice(0, 20))),
  ...['b', 'p', 'a', 's'].map((kind) => provider(`Slack ${kind}`, key('xo', 'x', kind, '-123456789012-', random))),
  provider('Slack hook', key('https://hooks.', 'slack.com/services/T000/B000/', random)),
  provider('Stripe', key('sk_', 'live_', random)),
  provider('Stripe restricted', key('rk_', 'live_', random)),
  provider('Stripe webhook', key('wh', 'sec_', random)),
  provider('Google', key('AI', 'za', random.slice(0, 35))),
  provider('Google OAuth', key('ya', '29.', random)),
  provider('OpenAI', key('s', 'k-', random)),
  provider('OpenAI project', key('s', 'k-proj-', random)),
  provider('Anthropic', key('s', 'k-ant-api03-', random)),
  provider('SendGrid', key('S', 'G.', random.slice(0, 22), '.', random)),
  provider('Twilio', key('S', 'K', '0123456789abcdef0123456789abcdef')),
  provider('npm', key('np', 'm_', random)),
  provider('PyPI', key('py', 'pi-AgEIcHlwaS5vcmc', random)),
  provider('Hugging Face', key('h', 'f_', random)),
  provider('DigitalOcean', key('dop', '_v1_', '0123456789abcdef'.repeat(4))),
  provider('Shopify', key('shp', 'at_', '0123456789abcdef'.repeat(2))),
  provider('Docker', key('dckr', '_pat_', random)),
  provider('Vault', key('hv', 's.', random)),
  provider('Telegram', key('123456789', ':AA', random)),
];

/** What must stay as it was, down to the last character. */
export const lookAlikes = [
  'User authenticated',
  'author: Jane Austen',
  'tokenizer: failed to load vocabulary',
  'keyboard: layout missing',
  'passenger=42',
  'cookieConsentShown: true',
  'Basic authentication is required',
  'bearer token missing',
  'SyntaxError: Unexpected token } in JSON at position 5',
  'Unexpected token: punc (;)',
  'Unexpected token : in JSON',
  'password: must be at least 8 characters',
  'password is required',
  'token: string;',
  'password: undefined',
  'max_tokens: 4096, total_tokens=812',
  'token_type=bearer&expires_in=3600',
  'at verify (src/auth/token.ts:12:3)',
  'at reset (/app/password-reset.tsx:120:15)',
  'C:\\app\\secret.txt:3',
  'order 123456789012345 was not found',
  'order 999999999999999',
  '4111111111111112 fails the check digit',
  'phone +49 170 1234567',
  'at 1767323045123, 1767323045123456, 1767323045123456789',
  '2026-01-02T03:04:05.678Z',
  '550e8400-e29b-41d4-a716-446655440000',
  '41111111-1111-1111-1111-111111111111',
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
  'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  'integrity sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==',
  'https://example.com:8080/@scope/package?page=2#top',
  'git@github.com/org',
  'std::vec::Vec<u8>, crate::lexer::Token::Ident',
  'Mozilla/5.0 Chrome/120.0.0.0 Safari/537.36',
  'node_modules/.pnpm/react@18.2.0/node_modules/react/index.js',
  'icon@2x.png',
  '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----',
  'sk-circle-fade-delay-animation-slow',
  'primary_key=17 cache_key: users:17 sort_key=created',
  'const keys = Object.keys(map); for (const key of keys) {',
  'the secret of success, a cookie a day',
  'errgrp_01hzy3v7k2m9qwertyuiopasd',
  'ratio 0.4111111111111111',
  'compass: north, bypass=on, tests passed: 12, failed: 0',
  'Signature of f(x) does not match',
];

/** An event with this text wherever one may stand. */
export const everywhere = (text: string) => ({
  title: text,
  message: text,
  exception: {
    type: 'E',
    value: text,
    stacktrace: [{ func: 'f', file: 'f.ts', context_line: text, vars: { note: text } }],
  },
  breadcrumbs: [{ message: text, data: { note: text } }],
  extra: { note: [text] },
  request: { note: text },
});
/** The event as an SDK sends it, with a marker in its tags and its contexts. */
export function sdkEvent(event: Fields, marker: string): Fields {
  const { title, message, exception, breadcrumbs, context, user, user_id: id, ...rest } = event as Data;
  const thrown = exception === undefined ? [] : [...(exception.chain ?? []).toReversed(), exception];
  return {
    ...rest,
    message: message ?? title,
    fingerprint: [marker],
    tags: { ...rest.tags, marker },
    contexts: { ...context, place: marker },
    exception: { values: thrown.map(sdkException) },
    breadcrumbs: { values: breadcrumbs ?? [] },
    user: id === undefined ? user : { ...user, id },
  };
}

function sdkException({ type, value, stacktrace }: Data): Fields {
  const frames = (stacktrace ?? []).map(({ func, file, context_pre, context_post, ...rest }: Data) => ({
    ...rest,
    function: func,
    filename: file,
    pre_context: context_pre,
    post_context: context_post,
  }));
  return { type, value, stacktrace: { frames } };
}

/** How a secret may be written: as it is, in JSON, in JSON in JSON, in a URL. */
function forms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [...new Set([secret, json, JSON.stringify(json).slice(1, -1), encodeURIComponent(secret)])];
}

/** Secrets in a text, each with what stands around it. Short ones count as words of their own: `breadcrumbs` holds no `crumbs`. */
export function leaksIn(text: string, secrets: readonly string[]): string[] {
  return secrets.flatMap((secret) =>
    forms(secret).flatMap((form) => {
      let at = text.indexOf(form);
      while (at >= 0 && form.length <= 8 && isWithinWord(text, at, form.length)) at = text.indexOf(form, at + 1);
      return at < 0 ? [] : [`${secret}: ${text.slice(Math.max(0, at - 80), at + 80)}`];
    }),
  );
}

const isWithinWord = (text: string, at: number, length: number) =>
  /\w$|\d\.$/.test(text.slice(Math.max(0, at - 2), at)) || /\w/.test(text.charAt(at + length));
