// Pages of payers. `/pay/{token}` is the sandbox's own page: the token in the address is all it requires, as at any provider. Every provider
// sends the payer back to `/pay/return/{id}`. It checks the payment, then redirects the payer, and nobody else, to the caller's page. The
// parameters of an address prove nothing.
import { admission } from '../../../core/admission.ts';
import { clockNow } from '../../../core/database-clock.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../../kit/raw-route.ts';
import type { Services } from '../../../kit/services.ts';
import { html } from '../../../lib/html.ts';
import { lookAgain } from '../../../payments/look-again.ts';
import { testCard } from '../../../payments/sandbox/cards.ts';
import { authenticate, payWith } from '../../../payments/sandbox/pay.ts';
import { findPayment, type PaymentRow } from '../../../payments/sandbox/store.ts';
import type { Problem } from '../../../problems/problem.ts';
import { framePage } from '../frame.ts';
import { isOwnForm, readForm } from '../own-form.ts';
import { PageViews } from '../page-views.ts';
import { chargeLimit, chargeLimitPath } from './charge-limit.ts';
import { answerReturn } from './returned.ts';
import { sandboxPage } from './sandbox-page.ts';

const { formBytesMax } = admission.doors;
const TOKEN = /^[0-9A-Za-z]{1,64}$/;
const ID = /^[0-9A-Za-z_]{1,64}$/;

export function payRoutes(services: () => Services): readonly RawRoute[] {
  let visits: PageViews | undefined;
  const countingViews =
    (answer: (request: RawRequest, core: Services) => Promise<RawAnswer>) => (request: RawRequest) => {
      const core = services();
      visits ??= new PageViews(core.bounds);
      visits.count(request.remoteAddress);
      return answer(request, core);
    };
  return [
    {
      name: 'pay.charge_limit',
      methods: ['GET', 'POST'],
      path: chargeLimitPath,
      capability: null,
      bodyBytesMax: formBytesMax,
      answer: countingViews(chargeLimit),
      refuse: failurePage,
    },
    {
      name: 'pay.sandbox',
      methods: ['GET', 'POST'],
      path: '/pay/{token}',
      capability: null,
      bodyBytesMax: formBytesMax,
      answer: countingViews(atSandbox),
      refuse: failurePage,
    },
    {
      name: 'pay.return',
      methods: ['GET'],
      path: '/pay/return/{id}',
      capability: null,
      bodyBytesMax: formBytesMax,
      answer: countingViews((request, core) => {
        const id = request.params.id ?? '';
        const key = request.query.get('key') ?? '';
        return ID.test(id) ? answerReturn(core, id, key) : Promise.resolve(noSuchPayment());
      }),
      refuse: failurePage,
    },
  ];
}

async function atSandbox(request: RawRequest, core: Services): Promise<RawAnswer> {
  const token = request.params.token ?? '';
  const payment =
    TOKEN.test(token) && core.payments.provider?.name === 'sandbox' ? await findPayment(core.db, { token }) : null;
  if (payment === null) return noSuchPayment();
  const page = async (fault: string | null) =>
    sandboxPage({ payment, payee: new URL(core.baseUrl).host, nowMs: await clockNow(core.db), fault });
  if (request.method !== 'POST') return page(null);
  if (!isOwnForm(request.headers, core.baseUrl)) return foreignForm();
  const sent = readForm(request.headers, request.body);
  const changed = await take(core, token, payment, sent);
  if (changed === null) return page('Choose one of the test cards.');
  await lookAgain(core.db, changed.id);
  // Relative, and by its address: going back or loading it again sends nothing twice.
  return { status: 303, headers: { location: token, 'cache-control': 'no-store' }, body: '' };
}

/** What the form asks for; null: nothing that there is. */
function take(
  core: Services,
  token: string,
  { status }: PaymentRow,
  sent: URLSearchParams,
): Promise<PaymentRow | null> {
  const action = sent.get('action');
  if (status === 'authenticating' && (action === 'confirm' || action === 'refuse'))
    return authenticate(core.db, token, action === 'confirm');
  const card = testCard(sent.get('card'));
  return card === undefined ? Promise.resolve(null) : payWith(core.db, token, card);
}

function noSuchPayment(): RawAnswer {
  return message(404, 'There is no such payment', 'Check the link, or request a new one.');
}

function foreignForm(): RawAnswer {
  return message(403, 'This form was refused', 'A page of another site sent it. Open the payment link and pay there.');
}

function failurePage(failure: Problem): RawAnswer {
  const { httpStatus, message: text, retryAfterMs } = failure;
  const answer = message(httpStatus, 'This page cannot be shown', text);
  if (retryAfterMs === undefined) return answer;
  return { ...answer, headers: { ...answer.headers, 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) } };
}

function message(status: number, title: string, text: string): RawAnswer {
  const content = html`<h1>${title}</h1>\n<p>${text}</p>`;
  return framePage({ status, title, content, isNarrow: true });
}
