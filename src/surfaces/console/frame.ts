// The frame of the console's pages: navigation, what is said of the last form, the calls at the foot. Scripts and style come from this
// service alone, by their content; a browser may do nothing else here (CSP, Trusted Types).

import { failure } from '../../kit/console/failure.ts';
import { formFields } from '../../kit/console/form.ts';
import type { ConsolePage, NavEntry, navGroups, View } from '../../kit/console/page.ts';
import type { RawAnswer } from '../../kit/raw-route.ts';
import { type Html, html } from '../../lib/html.ts';
import { privatePageHeaders } from '../pages/frame.ts';
import { iconLink } from '../pages/icon.ts';
import { signOutForm } from '../pages/visitor.ts';
import type { Assets } from './assets/assets.ts';
import { foot } from './foot.ts';
import type { PageVisit } from './visit.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types qm',
].join('; ');

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
}

export function consoleAnswer(framed: Framed): RawAnswer {
  const { view } = framed;
  return {
    status: view.status ?? 200,
    headers: privatePageHeaders(POLICY),
    body: documentOf(framed).text,
  };
}

function documentOf({ page, pages, visit, view, assets, done, since }: Framed): Html {
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
${assets.script(visit, 'console')}
${view.hasPlots === true ? assets.script(visit, 'plots') : ''}
</head>
<body class="console"${live}${keys ? html` data-keys` : ''}>
<a class="skip" href="#main">To the content</a>
<header class="top"><button type="button" class="menu" popovertarget="pages">Menu</button><p><a href="${visit.path('')}">Quartermaster</a></p><p class="who"><a href="${visit.elsewhere('/auth/account')}">${whoIs(visit)}</a></p>${signOutForm({ baseUrl: visit.baseUrl }, visit.visitor)}</header>
<div class="body">
<nav id="pages" popover aria-label="Pages">${navigation(page, pages, visit)}</nav>
<div class="page">
<main id="main" tabindex="-1"${since === null || view.againSeconds === undefined ? '' : html` data-again="${view.againSeconds}"`}>
${done === null ? '' : html`<p class="done" role="status">${done}</p>`}
${visit.refused === null ? '' : html`<div role="alert">${failure(visit, visit.refused.problem, visit.refused.requestId)}</div>`}
${view.content}
${foot(visit)}
</main>
${viewForm(visit)}
</div>
</div>
${keys ? keyHelp(pages, visit) : ''}
</body>
</html>
`;
}

function whoIs({ visitor: { person, session } }: PageVisit): Html {
  const name = person?.email ?? person?.name ?? (session.kind === 'operator' ? 'Operator' : 'API key');
  return html`<bdi>${name}</bdi>${session.role === 'viewer' ? ', viewer' : ''}<span class="unseen">: account and sessions</span>`;
}

/** What the entries of a group are headed by; the first ones need no heading. */
const groupTitles: Readonly<Record<(typeof navGroups)[number], string | null>> = {
  start: null,
  build: 'Build',
  observe: 'Observe',
  reach: 'Reach',
  make: 'Make',
  money: 'Money',
  settings: 'Settings',
  operator: 'Service',
};

/** `pages`: in the order of the groups. */
function navigation(here: ConsolePage, pages: readonly ConsolePage[], visit: PageVisit): Html {
  const [, room = ''] = here.path.split('/');
  const entry = ({ nav, path }: ConsolePage & { readonly nav: NavEntry }) => {
    const isHere = path === here.path;
    const isAround = isHere || (path !== '' && path.split('/')[1] === room);
    return html`<li><a href="${visit.path(path)}" data-key="${nav.key}"${isHere ? html` aria-current="page"` : isAround ? html` aria-current="true"` : ''}>${nav.label}</a></li>`;
  };
  const shown = pages.filter(
    (page): page is ConsolePage & { readonly nav: NavEntry } => page.nav !== undefined && visit.may(page.needs),
  );
  return html`${[...Map.groupBy(shown, ({ nav }) => nav.group)].map(([group, entries]) => {
    const title = groupTitles[group];
    const heading = title === null ? '' : html`<h2 id="nav-${group}">${title}</h2>`;
    return html`${heading}<ul${title === null ? '' : html` aria-labelledby="nav-${group}"`}>${entries.map(entry)}</ul>`;
  })}`;
}

/** How the console looks: at the end of every page. */
function viewForm(visit: PageVisit): Html {
  const { theme, zone, keys, isChosen } = visit.preferences;
  const option = (value: string, label: string) =>
    html`<option value="${value}"${value === theme ? html` selected` : ''}>${label}</option>`;
  return html`<form class="view" aria-label="How the console looks" method="post" action="${visit.path('/view')}">${formFields(visit, 'view')}
<label>Theme <select name="theme">${option('system', 'as the system')}${option('light', 'light')}${option('dark', 'dark')}</select></label>
<label>Time zone <input name="zone" value="${zone}" size="16" spellcheck="false" autocapitalize="off"></label>${isChosen ? '' : html` <button type="button" hidden data-own-zone>Tell times in </button>`}
<label class="choice"><input type="checkbox" name="keys"${keys ? html` checked` : ''}> Keyboard shortcuts</label>
<input type="hidden" name="return_to" value="${visit.here}">
<button>Save</button></form>`;
}

function keyHelp(pages: readonly ConsolePage[], visit: PageVisit): Html {
  const rows = pages.flatMap(({ nav, needs }) =>
    nav !== undefined && visit.may(needs)
      ? [html`<div><dt><kbd>g</kbd> <kbd>${nav.key}</kbd></dt><dd>${nav.label}</dd></div>`]
      : [],
  );
  return html`<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keyboard</h2>
<dl>${rows}<div><dt><kbd>/</kbd></dt><dd>Search</dd></div><div><dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>Next, previous row</dd></div><div><dt><kbd>?</kbd></dt><dd>This help</dd></div></dl>
<form method="dialog"><button>Close</button></form></dialog>`;
}
