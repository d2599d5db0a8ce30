// One call that waits: what it would do, what it may cost and what its key did lately; a person approves or denies it here.
import {
  callVerbs,
  costText,
  inputText,
  spanChoices,
  UP_TO_HINT,
  WORDS_CHARACTERS_MAX,
} from '../../../../kit/console/approval.ts';
import { copiedBlock, copiedId } from '../../../../kit/console/copied.ts';
import { actForm, choice, field, numberOf, textOf } from '../../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import { facts, table } from '../../../../kit/console/table.ts';
import { ago, count, exactMoney, short } from '../../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { approvalsDecide } from '../../capabilities/approvals/decide.ts';
import { approvalsGet } from '../../capabilities/approvals/get.ts';
import { approvalsRules } from '../../capabilities/approvals/rules.ts';
import { requestsGet } from '../../capabilities/requests/get.ts';
import { APPROVALS, rulePath, stateOf } from './approval.ts';
import { approversText, type Names, readNames } from './names.ts';

type Approval = DataOf<typeof approvalsGet>;
type Deed = Approval['key_did'][number];

/** What another person decides, and that the call has run, tells no tick. */
const AGAIN_SECONDS = 5;

export const approvalPage: ConsolePage = {
  name: 'approval',
  path: `${APPROVALS}/{id}`,
  needs: approvalsGet,
  isLive: true,
  show,
  acts: {
    approve: {
      capability: approvalsDecide,
      input(form, { params }) {
        const span = form.get('for') ?? 'once';
        return {
          approval_id: params.id,
          decision: 'approve',
          words: textOf(form, 'words'),
          for: span,
          // Of one call the most is known.
          up_to_usd: span === 'once' ? undefined : numberOf(form, 'up_to_usd'),
        };
      },
      done: 'Approved. The key may make the call now.',
    },
    deny: {
      capability: approvalsDecide,
      input: (form, { params }) => ({ approval_id: params.id, decision: 'deny', words: textOf(form, 'words') }),
      done: 'Denied. The key is told so.',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const [approval, names] = await Promise.all([
    visit.need(approvalsGet, { approval_id: visit.params.id }),
    readNames(visit),
  ]);
  const { key_id: keyId, key_name: keyName, capability, status } = approval;
  const key = keyName ?? names.keyName(keyId);
  const back = visit.may(approvalsRules) ? html`<p><a href="${visit.path(APPROVALS)}">Approvals</a></p>` : '';
  const content = html`${back}
<div class="head named"><h1>The key ${short(key, 60)} ${callVerbs[status as keyof typeof callVerbs]} ${capability}</h1><p>${stateOf(approval)}</p></div>
<p>${visit.summaryOf(capability) ?? ''}</p>
${status === 'expired' ? html`<p class="notice">${whyExpired(approval)}</p>` : ''}
<section class="panel" aria-label="The call">${factsOf(visit, approval, names)}</section>
<section class="panel"><h2>Input</h2>${inputShown(approval)}</section>
<section class="panel"><h2>What the key did in this hour and the one before</h2>${deeds(approval.key_did)}</section>
${status === 'pending' ? decision(visit, approval, names) : ''}
${idsOf(visit, approval)}`;
  const isUnderWay = status === 'pending' || status === 'approved';
  return { title: `${key}: ${capability}`, content, againSeconds: isUnderWay ? AGAIN_SECONDS : undefined };
}

function factsOf(visit: Visit, approval: Approval, names: Names): Html {
  const { status, rule, decided_by: by, decided_at: at, words, left_usd: left } = approval;
  const ruleShown = visit.may(approvalsRules) ? html`<a href="${visit.path(rulePath(rule))}">${rule}</a>` : rule;
  return facts([
    ['Cost', costText(approval.cost_usd_max)],
    ['Asked', ago(visit, approval.created_at)],
    [status === 'approved' ? 'To be called' : 'Expires', isOpen(approval) ? ago(visit, approval.expires_at) : null],
    ['Rule', ruleShown],
    ['Decided by', by === null ? null : html`${short(names.personName(by), 60)}, ${ago(visit, at)}`],
    ['Words', words === null ? null : short(words, WORDS_CHARACTERS_MAX)],
    ['Such calls may cost', left === null ? null : `${exactMoney(left)} more, together`],
  ]);
}

/** For programs and for who asks them: nobody decides by these. */
function idsOf(visit: Visit, approval: Approval): Html {
  const ids = facts([
    ['Approval', copiedId(approval.approval_id)],
    ['Key', copiedId(approval.key_id, 'the ID of the key')],
    ['Request', requestShown(visit, approval)],
  ]);
  return html`<details id="ids"><summary>IDs</summary>${ids}</details>`;
}

function whyExpired({ decided_at: at }: Approval): string {
  if (at === null) return 'Nobody decided in time, or its rule was changed. Nothing was done.';
  return 'The call did not come in time, or its rule was changed. Nothing was done.';
}

function isOpen({ status }: Approval): boolean {
  return status === 'pending' || status === 'approved';
}

function requestShown(visit: Visit, { request_id: id }: Approval): Html {
  return visit.may(requestsGet) ? html`<a href="${visit.path(`/requests/${id}`)}">${id}</a>` : html`<code>${id}</code>`;
}

/** Never cut: what is approved is all of it. */
function inputShown({ input }: Approval): Html {
  return copiedBlock(
    html`<pre class="scroll text" tabindex="0" aria-label="Input">${inputText(input)}</pre>`,
    'the input',
  );
}

function deeds(did: Approval['key_did']): Html {
  return table<Deed>({
    caption: 'What the key did',
    rows: did,
    empty: html`<p>Nothing.</p>`,
    columns: [
      { title: 'Capability', cell: ({ capability }) => capability },
      { title: 'Calls', kind: 'number', cell: ({ calls }) => count(calls) },
      { title: 'Spend', usd: ({ spend_usd: usd }) => usd },
    ],
  });
}

function decision(visit: Visit, approval: Approval, names: Names): Html {
  const why = whyNot(visit, approval, names);
  if (why !== null) return html`<section class="panel"><h2>Decision</h2>${why}</section>`;
  return html`<div class="panels"><section class="panel"><h2>Approve</h2>${approveForm(visit, approval)}</section>
<section class="panel"><h2>Deny</h2>${denyForm(visit, approval)}</section></div>`;
}

/** Why the visitor decides nothing here; null: they may. */
function whyNot(visit: Visit, { approvers }: Approval, names: Names): Html | null {
  const { personId } = visit;
  if (personId === null) {
    const signIn = visit.elsewhere(`/auth?again=1&return_to=${encodeURIComponent(visit.here)}`);
    return html`<p class="notice">Only a person decides, never an API key: you are signed in by a key. <a href="${signIn}">Sign in as a person</a></p>`;
  }
  const own = names.people.find((person) => person.person_id === personId);
  const mayDecide = approvers === null ? own === undefined || own.role === 'owner' : approvers.includes(personId);
  return mayDecide ? null : html`<p class="notice">This call is decided by ${approversText(approvers, names)}.</p>`;
}

function approveForm(visit: Visit, approval: Approval): Html {
  const fields = html`${choice(visit, 'approve', { name: 'for', label: 'What you approve', value: 'once', options: spanChoices })}
${field(visit, 'approve', { name: 'up_to_usd', label: 'Up to, USD', hint: UP_TO_HINT, attributes: html`inputmode="decimal" autocomplete="off"` })}
${wordsField(visit, 'approve', approval)}<button class="main">Approve</button>`;
  return actForm(visit, 'approve', fields);
}

function denyForm(visit: Visit, approval: Approval): Html {
  return actForm(visit, 'deny', html`${wordsField(visit, 'deny', approval)}<button class="danger">Deny</button>`);
}

function wordsField(visit: Visit, act: string, { reason_required: isRequired }: Approval): Html {
  return field(visit, act, {
    name: 'words',
    label: isRequired ? 'Why' : 'Why (optional)',
    hint: 'The key reads it.',
    isRequired,
    rows: 2,
    attributes: html`maxlength="${WORDS_CHARACTERS_MAX}"`,
  });
}
