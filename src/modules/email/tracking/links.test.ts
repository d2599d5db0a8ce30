// Links of a copy are put in by reading the HTML once: a mail that is made to be slow holds nobody up.
import { expect, test } from 'vitest';
import { Secrets } from '../../../core/secrets/secrets.ts';
import { MailLinks } from './links.ts';

const links = new MailLinks({
  secrets: new Secrets('a secret of the tests, long enough'),
  baseUrl: 'https://infra.example.org',
});
const row = { account_id: 'acct_1', email_id: 'eml_1', unsubscribe: false, track_opens: false, track_clicks: true };
const copy = (html: string) => links.copyOf(row as Parameters<MailLinks['copyOf']>[0], 0, { html }).html ?? '';

test.each([
  ['<a href="https://example.com/?a=1&amp;b=2">x</a>', 'https://example.com/?a=1&b=2'],
  ["<A class='b' HREF = 'http://example.com/'>x</A>", 'http://example.com/'],
  ['<a\n  href="https://example.com/"\n>x</a>', 'https://example.com/'],
])('%s leads through the service to %s', (html, url) => {
  const [, token = ''] = /\/click\/([^"']+)/.exec(copy(html)) ?? [];
  expect(links.read('click', token)).toEqual({ accountId: 'acct_1', emailId: 'eml_1', number: 0, url });
});

test.each([
  '<a href="mailto:a@b.example">x</a>',
  '<abbr href="https://example.com/">',
  '<a name="x">',
  '<img src="https://example.com/">',
])('%s stays', (html) => expect(copy(html)).toBe(html));

test.each([
  ['tags that never end', '<a '.repeat(350_000)],
  ['one tag of a megabyte', `<a ${' '.repeat(1_000_000)}`],
  ['names without values', `<a ${'href '.repeat(200_000)}>`],
  ['quotes that never end', '<a href="https://'.repeat(60_000)],
])('%s take no longer than text of that length', (_, html) => {
  const begun = process.threadCpuUsage();
  expect(copy(html)).toBe(html);
  const { user, system } = process.threadCpuUsage(begun);
  // Text that is read anew from each of its letters takes seconds.
  expect((user + system) / 1_000).toBeLessThan(300);
});
