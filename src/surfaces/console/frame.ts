// The frame of the console's pages: navigation, what is said of the last form, the calls at the foot. Scripts and style come from this
// service alone, by their content; a browser may do nothing else here (CSP, Trusted Types).
import { randomBytes } from 'node:crypto';
import { moduleOf } from '../../core/callers/scopes.ts';
import { failure } from '../../kit/console/failure.ts';
import type { ConsolePage, View } from '../../kit/console/page.ts';
import type { RawAnswer } from '../../kit/raw-route.ts';
import { type Html, html } from '../../lib/html.ts';
import { privatePageHeaders } from '../pages/frame.ts';
import { iconLink, logo } from '../pages/icon.ts';
import { accountMenu } from './account-menu.ts';
import type { Assets } from './assets/assets.ts';
import { foot } from './foot.ts';
import { icon } from './icons.ts';
import { type NavPage, navigation, navPages } from './navigation.ts';
import { palette, paletteButton } from './palette.ts';
import type { Standing } from './standing.ts';
import type { PageVisit } from './visit.ts';

/**
 * Scripts run by a nonce alone: this origin also serves what callers upload. A frame that shows mail obeys the policy of the page too, so its
 * inline styles are allowed there; the page itself writes none, and all that it shows is escaped.
 */
function policyOf(nonce: string, { showsMail = false }: View): string {
  return [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'self'${showsMail ? " 'unsafe-inline'" : ''}`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "media-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types qm',
  ].join('; ');
}

export interface Framed {
  readonly page: ConsolePage;
  readonly pages: readonly ConsolePage[];
  readonly visit: PageVisit;
  readonly view: View;
  readonly assets: Assets;
  /** What the form that led here did; null: none did. */
  readonly done: string | null;
  /** What a live page is as new as; null: it is not to be fetched again, such as what is answered to a form. */
  readonly since: string | null;
  readonly standing: Standing;
}

export function consoleAnswer(framed: Framed): RawAnswer {
  const { view } = framed;
  const { status = 200 } = view;
  const nonce = randomBytes(16).toString('base64');
  return {
    status,
    headers: privatePageHeaders(policyOf(nonce, view)),
    body: documentOf(framed, nonce).text,
  };
}

function documentOf({ page, pages, visit, view, assets, done, since, standing }: Framed, nonce: string): Html {
  const shown = navPages(pages, visit);
  const { theme, keys } = visit.preferences;
  const live = since === null ? '' : html` data-live="${visit.path(`/live?since=${encodeURIComponent(since)}`)}"`;
  return html`<!doctype html>
<html lang="en"${theme === 'system' ? '' : html` data-theme="${theme}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="${theme === 'system' ? 'light dark' : theme}">
<title>${view.title} · Quartermaster</title>
${iconLink}
${assets.style(visit)}
${assets.script(visit, 'console', nonce)}
${view.hasPlots === true ? assets.script(visit, 'plots', nonce) : ''}
${view.hasPlayground === true ? assets.script(visit, 'playground', nonce) : ''}
${view.hasChallenge === true ? assets.script(visit, 'challenge', nonce) : ''}
</head>
<body class="console"${live}${keys ? html` data-keys` : ''}>
<a class="skip" href="#main">To the content</a>
<header class="top"><button type="button" class="menu" popovertarget="pages">Menu</button><p><a class="brand" href="${visit.path('')}">${logo}<span>Quartermaster</span></a></p>${paletteButton(visit)}${docsLinks(visit, page)}${accountMenu(visit, standing)}</header>
<div class="body">
<nav id="pages" popover aria-label="Pages">${navigation(page, shown, visit, standing)}</nav>
<div class="page">
<main id="main" tabindex="-1"${since === null || view.againSeconds === undefined ? '' : html` data-again="${view.againSeconds}"`}>
${done === null ? '' : html`<p class="done" role="status">${done}</p>`}
${visit.refused === null ? '' : html`<div role="alert">${failure(visit, visit.refused.problem, visit.refused.requestId)}</div>`}
${view.content}
${foot(visit)}
</main>
</div>
</div>
${palette(visit, pages, shown)}
${keys ? keyHelp(shown) : ''}
</body>
</html>
`;
}

/** The documentation, and what it says of the module of the page. */
function docsLinks(visit: PageVisit, { needs }: ConsolePage): Html {
  const link = (path: string, name: 'docs' | 'help', text: string) =>
    html`<a class="to-docs" href="${visit.elsewhere(path)}">${icon(name)}<span>${text}</span></a>`;
  return html`${link('/docs', 'docs', 'Docs')}${link(`/docs/modules/${moduleOf(needs.id)}`, 'help', 'Help')}`;
}

function keyHelp(pages: readonly NavPage[]): Html {
  const rows = pages.map(
    ({ nav: { key, label } }) => html`<div><dt><kbd>g</kbd> <kbd>${key}</kbd></dt><dd>${label}</dd></div>`,
  );
  return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keyboard</h2>
<dl>${rows}<div><dt><kbd>/</kbd> <kbd>Ctrl K</kbd></dt><dd>Search</dd></div><div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next, previous row</dd></div><div><dt><kbd>?</kbd></dt><dd>This help</dd></div></dl>
<form method="dialog"><button>Close</button></form></dialog>`;
}
