// Which pages are drawn by their scripts, by the figures of 30 pages that sites send whole, of 10 single-page applications, and of short pages and
// notices that are easily taken for one another.
import { expect, test } from 'vitest';
import { parse } from '../../src/modules/web/read/document/parse.ts';
import { isShell, shellFigures } from '../../src/modules/web/read/document/shell.ts';
import { applications } from './applications.ts';
import { PAGES, savedPage } from './page-facts.ts';

const figuresOf = (html: string) => shellFigures(parse(html, 'https://site.example/'));
const words = (count: number) => 'word '.repeat(count);

/** What pages of every kind bring: a tag manager, a counter, places for windows, and widgets that draw themselves. */
const EXTRAS = `<script async src="https://tags.example.com/gtm.js"></script><script>window.dataLayer = [];</script>
<noscript><iframe src="https://tags.example.com/ns.html"></iframe></noscript><div id="fb-root"></div><div id="modal-root"></div>
<cookie-banner></cookie-banner><script src="/assets/site.js" defer></script>`;

test('none of 30 saved pages, and each of 10 applications', async () => {
  const saved = await Promise.all(
    PAGES.map(async ({ file }) => {
      if (file.endsWith('.pdf')) return { name: file, isApplication: false, drawn: false };
      const figures = figuresOf(Buffer.from(await savedPage(file)).toString() + EXTRAS);
      return { name: file, isApplication: false, ...figures, drawn: isShell(figures) };
    }),
  );
  const built = applications.map(({ name, html }) => {
    const figures = figuresOf(html);
    return { name, isApplication: true, ...figures, drawn: isShell(figures) };
  });
  console.table([...saved, ...built]);
  expect([saved.length, built.length]).toEqual([30, 10]);
  expect([...saved, ...built].filter(({ drawn, isApplication }) => drawn !== isApplication)).toEqual([]);
});

test.each<[string, string, boolean]>([
  ['a short page without scripts', '<h1>It works!</h1>', false],
  ['an empty page', '', false],
  [
    'data for scripts, and none that runs',
    '<script type="application/ld+json">{}</script><div id="root"></div>',
    false,
  ],
  [
    'a short page with a counter',
    `<h1>Opening hours</h1><p>${words(20)}</p><script src="/count.js" async></script>`,
    false,
  ],
  [
    'a form with a script',
    `<form><label>${words(10)}</label><input></form><p>${words(10)}</p><script src="/f.js"></script>`,
    false,
  ],
  [
    'a server-rendered application',
    `<div id="__next"><h1>News</h1><p>${words(40)}</p></div><script src="/a.js"></script>`,
    false,
  ],
  [
    'a whole page with an empty widget',
    `<p>${words(200)}</p><chat-box></chat-box><script src="/c.js"></script>`,
    false,
  ],
  [
    'a short page with widgets',
    `<p>${words(50)}</p><chat-box></chat-box><div id="modal-root"></div><script src="/c.js"></script>`,
    false,
  ],
  [
    'a page in noscript',
    `<noscript><p>${words(60)}</p></noscript><div id="root"></div><script src="/a.js"></script>`,
    false,
  ],
  [
    'a notice in noscript',
    '<noscript>Enable JavaScript.</noscript><div id="root"></div><script src="/a.js"></script>',
    true,
  ],
  ['hidden text beside the script', `<div hidden>${words(90)}</div><div id="app"></div><script>draw()</script>`, true],
  ['hidden text, in CSS', `<p style="display: none">${words(90)}</p><div id="app"></div><script>draw()</script>`, true],
  ['a menu around an empty place', `<nav>${words(30)}</nav><div id="app"></div><script src="/a.js"></script>`, true],
])('%s', (_, html, drawn) => {
  expect(isShell(figuresOf(html))).toBe(drawn);
});
