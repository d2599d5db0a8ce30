// What the pages to connect say. Texts of the account and of the provider are escaped; no text that the provider sends back is shown.
import { short } from '../../../kit/console/text.ts';
import type { PageAnswer } from '../../../kit/public-page.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { ConnectPlan, ConnectRow } from './connect.ts';

type Allow = readonly { readonly methods: readonly string[]; readonly path: string }[];

export interface Asked {
  readonly row: ConnectRow;
  readonly plan: ConnectPlan;
  readonly account: { readonly accountId: string; readonly name: string | null };
}

/** What a person is asked, before they go to the provider. */
export function askingPage({ row, plan, account }: Asked): PageAnswer {
  const allow = row.allow === null ? null : (JSON.parse(row.allow) as Allow);
  const { scopes } = plan.source;
  const facts: readonly (readonly [string, Html])[] = [
    ['Account', accountOf(account)],
    ['Connection', html`<code>${row.connection}</code>`],
    ['Provider', html`<code>${hostOf(plan.authorizationUrl)}</code>`],
    ['Hosts', listOf(JSON.parse(row.hosts))],
    ['Requests', allow === null ? html`all that your account may make there` : listOf(allow.map(allowText))],
    ['Scopes', scopes.length === 0 ? html`those that the provider gives` : listOf(scopes)],
  ];
  const content = html`<p>An account of this service asks to make requests in your name. Nobody of it sees a password or a token of yours: requests go
out from this service, to these hosts only.</p>
<dl class="facts brief">${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<p class="notice">Connect only if you know who sent you this page.</p>
<form method="post"><input type="hidden" name="decision" value="connect"><p><button class="main">Continue to ${hostOf(plan.authorizationUrl)}</button></p></form>
<form method="post"><input type="hidden" name="decision" value="decline"><p><button>Decline</button></p></form>`;
  return { status: 200, title: 'Connect your account', content };
}

/** Whoever has an account may call it anything; nobody chooses an id. */
function accountOf({ name, accountId }: Asked['account']): Html {
  const id = html`<code>${accountId}</code>`;
  return name === null ? id : html`${short(name, 100)} <span class="quiet">${id}</span>`;
}

function allowText({ methods, path }: Allow[number]): string {
  return `${methods.includes('*') ? 'any method' : methods.join(', ')} ${path}`;
}

function listOf(texts: readonly string[]): Html {
  return html`<ul class="plain">${texts.map((text) => html`<li><code>${text}</code></li>`)}</ul>`;
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}

export function onwardPage({ authorizationUrl }: ConnectPlan, url: string, cookies: PageAnswer['cookies']): PageAnswer {
  const content = html`<p><a href="${url}">Continue to ${hostOf(authorizationUrl)}</a></p>`;
  return { status: 200, title: 'On to the provider', content, onward: url, ...(cookies && { cookies }) };
}

function sentence(status: number, title: string, text: string): PageAnswer {
  return { status, title, content: html`<p role="status">${text}</p>` };
}

export const wrongLink = sentence(
  404,
  'This link does not work',
  'It is not one that this service made, or it was cut. Open it as it was sent to you.',
);
export const usedLink = sentence(
  410,
  'This link was used',
  'A page to connect is good once. Ask whoever sent it for another one.',
);
export const endedLink = sentence(
  410,
  'This link works no more',
  'The time to connect is over. Ask whoever sent it for another one.',
);
export const declined = sentence(200, 'You declined', 'Nothing was connected, and the link works no more.');
export const declinedThere = sentence(
  403,
  'Nothing was connected',
  'The provider did not agree, or you did not. You may open the link again as long as it is good.',
);
export const notBegun = sentence(
  400,
  'This did not begin here',
  'It began in another browser, or more than ten minutes ago. Nothing was connected. Open the link that you were sent, and begin there.',
);
export const otherServer = sentence(
  400,
  'Nothing was connected',
  'The answer came from another server than the one that you were sent to.',
);
export const refusedThere = sentence(
  502,
  'Nothing was connected',
  'The provider gave no token for what you brought back. Open the link again; if it fails again, whoever sent it must look at the provider.',
);
export const unreachable = sentence(
  502,
  'Nothing was connected',
  'The provider gave no token for now. Open the link again in a minute.',
);
export const revoked = sentence(
  403,
  'Nothing was connected',
  'Whoever sent you this page may not connect accounts any more, or has deleted the connection.',
);
export const connected = sentence(
  200,
  'Connected',
  'Your account is connected. You may close this page. You end it at the provider, or by asking the account to delete the connection.',
);
