import { expect, test } from 'vitest';
import { isChannelName } from '../channels.ts';
import { channelAuth, isBodyOf, isInTime, isSame, isSignedCall, userAuth } from './signatures.ts';

// The worked examples of Pusher's documentation ("Authorization signatures", "HTTP API").
const documented = { key: '278d425bdf160c739803', secret: '7ad3773142a6692b25b8' };

test.each([
  [
    'a private channel',
    channelAuth(documented, '1234.1234', 'private-foobar'),
    '278d425bdf160c739803:58df8b0c36d6982b82c3ecf6b4662e34fe8c25bba48f5369f135bf843651c3a4',
  ],
  [
    'a presence channel',
    channelAuth(documented, '1234.1234', 'presence-foobar', '{"user_id":10,"user_info":{"name":"Mr. Channels"}}'),
    '278d425bdf160c739803:31935e7d86dba64c2a90aed31fdc61869f9b22ba9d8863bba239c03ca481bc80',
  ],
])('the signature of %s is the documented one', (_what, ours, due) => expect(ours).toBe(due));

test('what signs a sign-in signs no channel that has a name', () => {
  expect(userAuth(documented, '1.1', '{}')).toBe(channelAuth(documented, '1.1', ':user:', '{}'));
  expect(isChannelName(':user:')).toBe(false);
});

const call = {
  method: 'POST',
  path: '/apps/3/events',
  query:
    'auth_key=278d425bdf160c739803&auth_timestamp=1353088179&auth_version=1.0&body_md5=ec365a775a4cd0599faeb73354201b6f',
  signature: 'da454824c97ba181a32ccc17a72625ba02771f50b50e1e7430e47a1f3f457e6c',
  body: Buffer.from(
    '{"name":"foo","channels":["project-3"],"data":"{"some":"data"}"}'
      .replaceAll('{"some"', '{\\"some\\"')
      .replace(':"data"}', ':\\"data\\"}'),
  ),
};
const NOW = 1_353_088_179;
const signed = (query = call.query, signature = call.signature) =>
  new URLSearchParams(`${query}&auth_signature=${signature}`);

test('the documented call of a server is right, with its body', () => {
  const query = signed();
  expect(isSignedCall(documented.secret, { ...call, query }) && isInTime(query, NOW)).toBe(true);
  expect(isBodyOf(query, call.body)).toBe(true);
});

test.each([
  ['another method', { method: 'GET' }],
  ['another path', { path: '/apps/4/events' }],
  ['another body hash', { query: signed(call.query.replace('ec365', 'ec366')) }],
  ['another time', { query: signed(call.query.replace('88179', '88180')) }],
  ['no signature', { query: new URLSearchParams(call.query) }],
  ['a parameter more', { query: signed(`${call.query}&info=user_count`) }],
  ['a parameter twice', { query: signed(`${call.query}&Auth_Key=other`) }],
  ['another version', { query: signed(call.query.replace('1.0', '2.0')) }],
])('a call with %s is refused', (_what, changed) => {
  expect(isSignedCall(documented.secret, { ...call, query: signed(), ...changed })).toBe(false);
});

test.each([
  ['1353088179', 600, true],
  ['1353088179', -600, true],
  ['1353088179', 601, false],
  ['1353088179', -601, false],
  ['', 0, false],
  ['1e9', 0, false],
  ['-1353088179', 0, false],
])('the timestamp %j, %i s later', (timestamp, later, isRight) => {
  expect(isInTime(new URLSearchParams({ auth_timestamp: timestamp }), NOW + later)).toBe(isRight);
});

test('every flipped character of a signature is refused', () => {
  for (let at = 0; at < call.signature.length; at += 1) {
    const flipped =
      call.signature.slice(0, at) + (call.signature[at] === '0' ? '1' : '0') + call.signature.slice(at + 1);
    expect(isSignedCall(documented.secret, { ...call, query: signed(call.query, flipped) })).toBe(false);
  }
});

test('a body that is not the signed one is refused', () => {
  expect(isBodyOf(signed(), Buffer.concat([call.body, Buffer.from(' ')]))).toBe(false);
  expect(isBodyOf(new URLSearchParams(), call.body)).toBe(false);
});

test.each([[undefined], [null], [1], [['a']], ['a'.repeat(10_000)], [`${'a'.repeat(255)}é`]])(
  '%j is no signature',
  (shown) => {
    expect(isSame('a'.repeat(256), shown)).toBe(false);
  },
);
