import { describe, expect, test } from 'vitest';
import { mailPage, outboxPage } from './outbox-pages.ts';

const hostile = `</pre></li><script>alert(1)</script><a href="https://evil.example">x</a>"'&`;
const mail = {
  id: 'mail_1111111111111111111111',
  to: hostile,
  subject: hostile,
  text: `${hostile}\nhttps://evil.example`,
  html: hostile,
  created_at: '2026-11-01T12:00:00.000Z',
};

describe('what stands in a mail is text', () => {
  test.each([
    ['the list', () => outboxPage.show({ items: [mail], next_cursor: null }, 0)],
    ['the mail', () => mailPage.show(mail, 0)],
  ])('in %s', (_, show) => {
    const { text } = show().content;
    expect(text).not.toContain('<script');
    expect(text).not.toMatch(/href="https?:/);
    expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });
});

test('older mail is a page further, as long as there is some', () => {
  const older = (next_cursor: string | null) => outboxPage.show({ items: [mail], next_cursor }, 0).content.text;
  expect(older('a-b_c')).toContain('<a href="?cursor=a-b_c">');
  expect(older(null)).not.toContain('cursor');
});
