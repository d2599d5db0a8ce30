// POST /webhooks/stripe: hints from Stripe that something changed. The signature proves the sender. The content is not trusted; it only
// makes the affected row due for a check. So a lost, repeated or late message does no harm, and one about unknown objects is acknowledged.
import { admission } from '../../core/admission.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { lookAgain } from '../../payments/look-again.ts';
import { problem } from '../../problems/problem.ts';

export function paymentWebhooks(services: () => Services): readonly RawRoute[] {
  return [
    {
      name: 'payments.webhook',
      methods: ['POST'],
      path: '/webhooks/stripe',
      capability: null,
      bodyBytesMax: admission.doors.paymentWebhookBytesMax,
      answer: (request) => takeMessage(services(), request),
    },
  ];
}

async function takeMessage({ db, payments: { provider } }: Services, request: RawRequest): Promise<RawAnswer> {
  if (provider?.name !== 'stripe') throw problem('NOT_FOUND', { message: 'No payments are taken by Stripe here.' });
  // Real time: Stripe's clock knows no test clock.
  const hints = provider.verifyHint(request.body, signatureOf(request), Date.now());
  if (hints === null)
    throw problem('INVALID_REQUEST', {
      message: 'The Stripe-Signature header does not match this body, or is more than five minutes old.',
      detail: 'signature',
    });
  const names = hints.flatMap(({ ref, id }) => (id === null ? [ref] : [ref, id]));
  for (const name of new Set(names)) if ((await lookAgain(db, name)) !== null) break;
  return { status: 200, headers: { 'content-type': 'application/json; charset=utf-8' }, body: '{"received":true}' };
}

function signatureOf({ headers }: RawRequest): string | undefined {
  const sent = headers['stripe-signature'];
  return Array.isArray(sent) ? undefined : sent;
}
