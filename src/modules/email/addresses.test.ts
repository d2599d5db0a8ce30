import { expect, test } from 'vitest';
import { mailboxText, readAddress, readMailbox } from './addresses.ts';

test.each([
  ['ada@example.org', '', 'ada@example.org'],
  ['  Ada Lovelace <ada@Example.ORG> ', 'Ada Lovelace', 'ada@example.org'],
  ['"Lovelace, Ada" <ada+x@example.org>', 'Lovelace, Ada', 'ada+x@example.org'],
  ['"a \\"b\\" c" <a@b.example>', 'a "b" c', 'a@b.example'],
  ['Åda <ada@bücher.example>', 'Åda', 'ada@xn--bcher-kva.example'],
  ['<a@localhost>', '', 'a@localhost'],
])('%s is one mailbox', (text, name, address) => {
  expect(readMailbox(text)).toEqual({ name, address });
  expect(readMailbox(mailboxText({ name, address }))).toEqual({ name, address });
});

test.each([
  ...[
    '',
    '@',
    'a@',
    '@b.example',
    'a b@c.example',
    'a@b@c.example',
    'a@b.example, c@d.example',
    'a@b.example;c@d.example',
  ],
  ...['Group: a@b.example;', '<a@b.example> <c@d.example>', '<@relay.example:a@b.example>', 'a(comment)@b.example'],
  ...[
    'a@b.example\r\nBcc: c@d.example',
    'A\n <a@b.example>',
    'a\0@b.example',
    '.a@b.example',
    'a..b@c.example',
    'ä@b.example',
  ],
  ...[
    'a@-b.example',
    'a@b..example',
    'a@127.0.0.1',
    'a@[127.0.0.1]',
    `${'a'.repeat(65)}@b.example`,
    `a@${'b'.repeat(64)}.example`,
  ],
  ...['"a"@b.example', 'a%b.example', `Name <a@${'b.'.repeat(130)}example>`],
])('%j is none', (text) => {
  expect(readMailbox(text)).toBeNull();
});

test.each(['a@b.example\r\n', 'a@b.exam\tple', 'a@b.example\nx'])(
  '%j is no address: nothing of it is left out',
  (text) => {
    expect(readAddress(text)).toBeNull();
  },
);
