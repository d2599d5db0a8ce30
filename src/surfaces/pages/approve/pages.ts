// What the page of a mailed link shows: the call, what it may cost, what its key did lately, and the two forms. No scripts.
import {
  callVerbs,
  costText,
  inputText,
  spanChoices,
  UP_TO_HINT,
  WORDS_CHARACTERS_MAX,
} from '../../../kit/console/approval.ts';
import { countOf, durationText, short } from '../../../kit/console/text.ts';
import type { RawAnswer } from '../../../kit/raw-route.ts';
import { type Html, html } from '../../../lib/html.ts';
import { dollars } from '../../../lib/money.ts';
import { framePage } from '../frame.ts';

/** What is used of the answer of account.approvals.get. */
export interface AskedApproval {
  readonly approval_id: string;
  readonly status: keyof typeof callVerbs;
  readonly rule: string;
  readonly capability: string;
  readonly key_id: string;
  readonly key_name: string | null;
  readonly key_did: readonly { readonly capability: string; readonly calls: number; readonly spend_usd: number }[];
  readonly input: object | null;
  readonly cost_usd_max: number;
  readonly approvers: readonly string[] | null;
  readonly reason_required: boolean;
  readonly words: string | null;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly created_at: string;
  readonly expires_at: string;
}

/** What was refused of a form, which is shown again as it was sent. */
export interface Fault {
  readonly status: number;
  readonly form: URLSearchParams;
  /** Null: it is said above the forms. */
  readonly field: string | null;
  readonly text: string;
}

export interface Shown {
  readonly approval: AskedApproval;
  /** What the call does, in a sentence; null: there is no such call any more. */
  readonly summary: string | null;
  readonly nowMs: number;
  /** Whose link it is. */
  readonly reader: string;
  readonly mayDecide: boolean;
  /** Who decided; null: nobody did, or they are gone. */
  readonly decidedBy: string | null;
  /** Of the approval in the console. */
  readonly consolePath: string;
  readonly fault: Fault | null;
}

export function approvalPage(shown: Shown): RawAnswer {
  const { approval, fault, consolePath } = shown;
  const { key_id: id, key_name: name, capability, status } = approval;
  const key = name ?? id;
  const above = fault?.field === null ? html`<p class="failure" role="alert">${fault.text}</p>` : '';
  const content = html`<h1>The key ${short(key, 60)} ${callVerbs[status]} ${capability}</h1>
${shown.summary === null ? '' : html`<p>${shown.summary}</p>`}
${above}
${stateText(shown)}
${facts(shown)}
<h2>Input</h2>
<pre class="scroll text" tabindex="0" aria-label="Input">${inputText(approval.input)}</pre>
<h2>What the key did in this hour and the one before</h2>
${deeds(approval)}
${status === 'pending' && shown.mayDecide ? forms(shown) : ''}
<p class="quiet"><a href="${consolePath}">Open it in the console</a></p>`;
  return framePage({ status: fault?.status ?? 200, title: `${key}: ${capability}`, content, isNarrow: true });
}

/** What became of it, or why the reader decides nothing. */
function stateText({ approval, mayDecide, decidedBy, nowMs }: Shown): Html {
  const { status, decided_at: at, words } = approval;
  const who = decidedBy ?? 'Somebody';
  const when = at === null ? '' : html` ${instant(at, nowMs)}`;
  const why = words === null ? '' : html` Words: “${words}”`;
  switch (status) {
    case 'pending':
      return mayDecide
        ? html`<p class="notice">It waits for your decision. Until then nothing is done.</p>`
        : html`<p class="notice">You may no longer decide this call. Its rule names other people, or you are no owner any more.</p>`;
    case 'approved':
      return html`<p class="agreed" role="status">${who} approved it${when}. The key may make the call now.${why}</p>`;
    case 'used':
      return html`<p class="agreed" role="status">${who} approved it${when}. The call has run.${why}</p>`;
    case 'denied':
      return html`<p class="failure" role="status">${who} denied it${when}. The call does not run.${why}</p>`;
    case 'expired':
      return html`<p class="notice" role="status">${at === null ? 'Nobody decided in time, or its rule was changed.' : html`${who} approved it${when}, but the call did not come in time, or the rule was changed.`} Nothing was done. The program may ask again.</p>`;
  }
}

function facts({ approval, reader, nowMs }: Shown): Html {
  const { cost_usd_max: usd, rule, created_at: since, expires_at: until, status } = approval;
  const entries: readonly (readonly [string, Html | string])[] = [
    ['Cost', costText(usd)],
    ['Asked', instant(since, nowMs)],
    ...(status === 'pending' ? [['Expires', instant(until, nowMs)] as const] : []),
    ['Rule', rule],
    ['You act as', short(reader, 100)],
  ];
  return html`<dl class="facts brief">${entries.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>`;
}

/** `3 min ago`; exact in UTC as its title. */
function instant(text: string, nowMs: number): Html {
  const seconds = (nowMs - Date.parse(text)) / 1_000;
  const told = seconds < 0 ? `in ${durationText(-seconds)}` : `${durationText(seconds)} ago`;
  return html`<time datetime="${text}" title="${text}">${told}</time>`;
}

function deeds({ key_did: did }: AskedApproval): Html {
  if (did.length === 0) return html`<p>Nothing.</p>`;
  const each = ({ capability, calls, spend_usd: usd }: AskedApproval['key_did'][number]) =>
    html`<li><code>${capability}</code>: ${countOf(calls, 'call')}${usd === 0 ? '' : `, ${dollars(usd)}`}</li>`;
  return html`<ul class="plain">${did.map(each)}</ul>`;
}

function forms(shown: Shown): Html {
  const span = typedValue(shown, 'approve', 'for') || 'once';
  const option = ([value, text]: (typeof spanChoices)[number]) =>
    html`<option value="${value}"${value === span ? html` selected` : ''}>${text}</option>`;
  return html`<h2>Approve</h2>
<form method="post"><input type="hidden" name="decision" value="approve">
<label for="for">What you approve</label>
<select id="for" name="for">${spanChoices.map(option)}</select>
${field(shown, 'approve', { name: 'up_to_usd', label: 'Up to, USD', hint: UP_TO_HINT, attributes: html`inputmode="decimal" autocomplete="off"` })}
${words(shown, 'approve')}
<button class="main wide">Approve</button></form>
<h2>Deny</h2>
<form method="post"><input type="hidden" name="decision" value="deny">
${words(shown, 'deny')}
<button class="refuse wide">Deny</button></form>`;
}

function words(shown: Shown, decision: string): Html {
  const isRequired = shown.approval.reason_required;
  const required = isRequired ? html` required` : '';
  return field(shown, decision, {
    name: 'words',
    label: isRequired ? 'Why' : 'Why (optional)',
    hint: 'The key reads it.',
    attributes: html`maxlength="${WORDS_CHARACTERS_MAX}" autocomplete="off"${required}`,
  });
}

interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint: string;
  readonly attributes: Html;
}

function field(shown: Shown, decision: string, { name, label, hint, attributes }: Field): Html {
  const id = `${decision}-${name}`;
  const { fault } = shown;
  const isFault = fault?.field === name && fault.form.get('decision') === decision;
  const described = isFault ? `${id}-hint ${id}-fault` : `${id}-hint`;
  return html`<label for="${id}">${label}</label>
<input id="${id}" name="${name}" value="${typedValue(shown, decision, name)}" aria-describedby="${described}"${isFault ? html` aria-invalid="true"` : ''} ${attributes}>
<p class="hint" id="${id}-hint">${hint}</p>${isFault ? html`<p class="fault" id="${id}-fault">${fault.text}</p>` : ''}`;
}

function typedValue({ fault }: Shown, decision: string, name: string): string {
  return fault?.form.get('decision') === decision ? (fault.form.get(name) ?? '') : '';
}
