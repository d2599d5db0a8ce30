// `/device`: the page on which a person approves a device (RFC 8628 §3.3). They sign in, type or confirm the code, see the request, and approve
// or deny it. A GET looks nothing up, so a code followed as a link reveals nothing, and guesses are limited.

import { admission } from '../../../core/admission.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { networkOf } from '../../../lib/network-of.ts';
import { approveDevice, cannotApprove, type Fault } from '../../../people/devices/approve.ts';
import { readUserCode, shownUserCode } from '../../../people/devices/codes.ts';
import { denyDevice, findWaiting } from '../../../people/devices/devices.ts';
import { guessersOf } from '../../../people/devices/guesses.ts';
import { offerOf, proposalOf } from '../../../people/devices/offer.ts';
import type { DeviceRow } from '../../../people/devices/store.ts';
import { isRecent } from '../../../people/sessions/sessions.ts';
import type { Problem } from '../../../problems/problem.ts';
import { foreignFormPage, message, retryAfter } from '../message.ts';
import { readForm } from '../own-form.ts';
import { PageViews } from '../page-views.ts';
import { isFormOf, pathTo, redirect, signInAgain, signInFirst, signOutForm, visitorOf } from '../visitor.ts';
import { authorizePage } from './authorize.ts';
import {
  type Approver,
  codePage,
  confirmPage,
  type DeviceFrame,
  fillOf,
  proposedWish,
  type Wished,
  wishOf,
} from './pages.ts';

const { formBytesMax } = admission.doors;

export function deviceRoutes(services: () => Services): readonly RawRoute[] {
  let visits: PageViews | undefined;
  return [
    {
      name: 'device.page',
      methods: ['GET', 'POST'],
      path: '/device',
      capability: null,
      bodyBytesMax: formBytesMax,
      refuse: failurePage,
      answer: (request) => {
        const core = services();
        visits ??= new PageViews(core.bounds);
        visits.count(request.remoteAddress);
        return answerApprover(core, request, devicePage);
      },
    },
    {
      name: 'oauth.authorize',
      methods: ['GET', 'POST'],
      path: '/oauth/authorize',
      capability: null,
      bodyBytesMax: formBytesMax,
      refuse: failurePage,
      answer: (request) => {
        const core = services();
        visits ??= new PageViews(core.bounds);
        visits.count(request.remoteAddress);
        return answerApprover(core, request, authorizePage);
      },
    },
  ];
}

type ApproversPage = (core: Services, request: RawRequest, visitor: Approver, frame: DeviceFrame) => Promise<RawAnswer>;

/** The page for who may give keys; others are sent to sign in, or told why not. */
async function answerApprover(core: Services, request: RawRequest, page: ApproversPage): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  if (visitor === null || visitor.principal === null) return signInFirst(core, request);
  const { principal } = visitor;
  const frame = { signOut: signOutForm(core, visitor) };
  if (request.query.has('decided')) return decidedPage(frame);
  // It ends with a key: what an unattended browser must not do.
  if (!isRecent(visitor.session)) return signInAgain(core, request);
  const why = cannotApprove(principal);
  if (why !== null)
    return message(403, 'You cannot authorize a device', html`<p class="failure" role="alert">${why}</p>`, frame);
  return page(core, request, { ...visitor, principal }, frame);
}

async function devicePage(
  core: Services,
  request: RawRequest,
  visitor: Approver,
  frame: DeviceFrame,
): Promise<RawAnswer> {
  if (request.method === 'POST') return takeForm(core, request, visitor, frame);
  return codePage(visitor, frame, { typed: request.query.get('user_code') ?? '' });
}

async function takeForm(
  core: Services,
  request: RawRequest,
  visitor: Approver,
  frame: DeviceFrame,
): Promise<RawAnswer> {
  const form = readForm(request.headers, request.body);
  if (!isFormOf(core, request, form, visitor)) return foreignFormPage();
  const typed = form.get('user_code') ?? '';
  const guessers = guessersOf(visitor.session.sessionId, networkOf(request.remoteAddress));
  const device = await findWaiting(core, readUserCode(typed), guessers);
  if (typeof device === 'number') {
    const text = `Too many wrong codes. Try again in ${Math.ceil(device / 60_000)} minutes.`;
    const headers = { 'retry-after': String(Math.ceil(device / 1_000)) };
    return codePage(visitor, { ...frame, headers }, { typed, fault: text, status: 429 });
  }
  if (device === null) {
    const text = 'No device uses this code. Check it, or start again on the device: a code expires after ten minutes.';
    return codePage(visitor, frame, { typed, fault: text, status: 400 });
  }
  return decide(core, visitor, frame, device, form);
}

async function decide(
  core: Services,
  visitor: Approver,
  frame: DeviceFrame,
  device: DeviceRow,
  form: URLSearchParams,
): Promise<RawAnswer> {
  const action = form.get('action');
  const offer = offerOf(core.knownScopes, device.scopes, visitor.principal.scopes);
  const pageWith = (wished: Wished, fault: Fault | null) =>
    confirmPage(visitor, frame, { device, code: shownUserCode(device.user_code), offer, wished, fault });
  if (action === 'deny') {
    await denyDevice(core, device);
    return redirectDecided(core);
  }
  const { wished, wish } = wishOf(form);
  const fill = fillOf(form, offer);
  if (fill !== null) return pageWith({ ...wished, scopes: fill }, null);
  if (action !== 'approve') return pageWith(proposedWish(proposalOf(core.knownScopes, offer), visitor.principal), null);
  if ('field' in wish) return pageWith(wished, wish);
  const fault = await approveDevice(core, visitor.principal, device, wish);
  return fault === null ? redirectDecided(core) : pageWith(wished, fault);
}

/** The browser asks for a page of its own: loading that again sends nothing twice. */
function redirectDecided(core: Services): RawAnswer {
  return redirect(`${pathTo(core, '/device')}?decided`);
}

function decidedPage(frame: DeviceFrame): RawAnswer {
  const text = html`<p role="status">The device gets your answer within seconds. You can close this page.</p>
<p class="quiet">You can revoke its key at any time, in the console under Keys.</p>`;
  return message(200, 'Answer sent', text, frame);
}

function failurePage(failure: Problem): RawAnswer {
  const text = html`<p class="failure" role="alert">${failure.message}</p>`;
  return message(failure.httpStatus, 'This page cannot be shown', text, { headers: retryAfter(failure) });
}
