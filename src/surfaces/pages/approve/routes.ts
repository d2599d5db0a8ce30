// `/approve/{token}`: the page behind the link in a mail to an approver. A GET changes nothing, since scanners open links too; the form of the page
// decides, as the person whose link it is. Both are calls of the API by that person, so a removed person decides nothing.
import { APPROVE_PATH, type ApprovalLink, DECIDE, GET, linkCredential, readLink } from '../../../approvals/link.ts';
import { consolePath } from '../../../approvals/refusals.ts';
import { admission } from '../../../core/admission.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { type Member, membersOf } from '../../../people/persons.ts';
import type { Problem } from '../../../problems/problem.ts';
import { foreignFormPage, message, retryAfter } from '../message.ts';
import { isOwnForm, readForm } from '../own-form.ts';
import { PageViews } from '../page-views.ts';
import { pathTo, redirect } from '../visitor.ts';
import { type AskedApproval, approvalPage, type Fault } from './pages.ts';

const { formBytesMax } = admission.doors;

export function approveRoutes(services: () => Services, manifest: Manifest): readonly RawRoute[] {
  let visits: PageViews | undefined;
  return [
    {
      name: 'approve.page',
      methods: ['GET', 'POST'],
      path: APPROVE_PATH,
      capability: null,
      entryForm: 'console',
      bodyBytesMax: formBytesMax,
      refuse: failurePage,
      answer: (request) => {
        const core = services();
        visits ??= new PageViews(core.bounds);
        visits.count(request.remoteAddress);
        return answerLink(core, manifest, request);
      },
    },
  ];
}

async function answerLink(core: Services, manifest: Manifest, request: RawRequest): Promise<RawAnswer> {
  const isForm = request.method === 'POST';
  if (isForm && !isOwnForm(request.headers, core.baseUrl)) return foreignFormPage();
  const link = readLink(core, request.params.token ?? '');
  if (link === null) return wrongLinkPage();
  if (link.endsAtMs <= (await clockNow(core.db))) return endedPage();
  // Looked up first: a link that was good once is no wrong key of its address.
  const members = await membersOf(core.db, link.accountId);
  const person = members.find(({ personId }) => personId === link.personId);
  if (person === undefined) return removedPage();
  await request.identify(linkCredential(core, link));
  const visit: Visit = { core, manifest, request, link, person, members };
  return isForm ? decide(visit) : show(visit, null);
}

interface Visit {
  readonly core: Services;
  readonly manifest: Manifest;
  readonly request: RawRequest;
  readonly link: ApprovalLink;
  readonly person: Member;
  readonly members: readonly Member[];
}

async function show(
  { core, manifest, request, link, person, members }: Visit,
  fault: Fault | null,
): Promise<RawAnswer> {
  const { problem, envelope } = await request.invoke(GET, { approval_id: link.approvalId });
  if (problem?.code === 'NOT_FOUND') return gonePage();
  if (problem !== null) throw problem;
  const { data: approval } = JSON.parse(envelope) as { readonly data: AskedApproval };
  const { approvers, decided_by: by } = approval;
  const decider = members.find(({ personId }) => personId === by);
  return approvalPage({
    approval,
    summary: manifest.byId.get(approval.capability)?.summary ?? null,
    nowMs: await clockNow(core.db),
    reader: nameOf(person),
    mayDecide: approvers === null ? person.role === 'owner' : approvers.includes(person.personId),
    decidedBy: decider === undefined ? null : decider === person ? 'You' : nameOf(decider),
    consolePath: pathTo(core, consolePath(link.approvalId)),
    fault,
  });
}

function nameOf({ name, email, personId }: Member): string {
  return name ?? email ?? personId;
}

async function decide(visit: Visit): Promise<RawAnswer> {
  const { core, request, link } = visit;
  const form = readForm(request.headers, request.body);
  const { problem } = await request.invoke(DECIDE, inputOf(form, link));
  // Loading the page again sends nothing twice.
  if (problem === null) return redirect(pathTo(core, request.url));
  if (problem.code === 'NOT_FOUND') return gonePage();
  if (!isOfForm(problem)) throw problem;
  const { httpStatus: status } = problem;
  const { param = null, message: text } = problem.errors?.[0] ?? problem;
  return show(visit, { status, form, text, field: param === 'words' || param === 'up_to_usd' ? param : null });
}

/** What the page says with the call as it stands now. */
function isOfForm({ code }: Problem): boolean {
  return ['VALIDATION_FAILED', 'STATE_CONFLICT', 'INSUFFICIENT_SCOPE'].includes(code);
}

function inputOf(form: URLSearchParams, { approvalId }: ApprovalLink) {
  const decision = form.get('decision') ?? '';
  const span = form.get('for') ?? 'once';
  const words = form.get('words')?.trim();
  const said = { approval_id: approvalId, decision, words: words === '' ? undefined : words };
  if (decision !== 'approve') return said;
  return { ...said, for: span, up_to_usd: span === 'once' ? undefined : amountIn(form) };
}

/** What is no number goes as it was typed: the call says what is wrong with it. */
function amountIn(form: URLSearchParams): number | string | undefined {
  const text = form.get('up_to_usd')?.trim() ?? '';
  if (text === '') return undefined;
  const amount = Number(text);
  return Number.isFinite(amount) ? amount : text;
}

function wrongLinkPage(): RawAnswer {
  return message(
    404,
    'This link does not work',
    html`<p>It is not one that this service sent, or it was cut. Open it from the mail as it stands there.</p>`,
  );
}

function endedPage(): RawAnswer {
  return message(
    410,
    'This link works no more',
    html`<p>The time to decide is over. The console has what became of the call.</p>`,
  );
}

function removedPage(): RawAnswer {
  return message(
    403,
    'This link works no more',
    html`<p>It was sent to somebody who no longer acts for the account. Nothing was changed.</p>`,
  );
}

function gonePage(): RawAnswer {
  return message(
    404,
    'This approval is gone',
    html`<p>Approvals are kept for 90 days after they were asked for. Nothing was changed.</p>`,
  );
}

function failurePage(failure: Problem): RawAnswer {
  const text = html`<p class="failure" role="alert">${failure.message}</p>`;
  return message(failure.httpStatus, 'This page cannot be shown', text, { headers: retryAfter(failure) });
}
