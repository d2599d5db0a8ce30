import Type from 'typebox';
import { runOutside } from '../../../../core/idempotency/outside.ts';
import { defineCapability } from '../../../../kit/capability.ts';
import { instant, textOrNull } from '../../../../kit/fields.ts';
import { iso } from '../../../../lib/time.ts';
import { createSetup } from '../../../../payments/methods/setups.ts';
import { requireProvider } from '../../../../payments/require-provider.ts';
import { checkReturnUrl, returnUrlField } from '../../return-url.ts';

export const paymentMethodAttach = defineCapability()({
  method: 'POST',
  path: '/v1/account/payment_method/attach',
  summary: 'Answers a link where a person leaves a payment method.',
  description:
    'Nothing is charged. Hand checkout_url to a person, who leaves a card on the hosted page within a day; then account.payment_method.list ' +
    'shows it. The first of the account becomes its default.',
  keywords: ['add credit card', 'save card', 'payment details', 'setup payment'],
  input: Type.Object({ return_url: Type.Optional(returnUrlField) }),
  output: Type.Object(
    {
      setup_id: Type.String({ description: 'Id of the page, `setup_…`.' }),
      checkout_url: textOrNull('Hosted page where a person leaves the payment method: hand it to one.'),
      expires_at: instant('Until when the link can be used.'),
    },
    { title: 'PaymentMethodSetup' },
  ),
  gates: ['recent_sign_in', 'email'],
  errors: ['QUOTA_EXCEEDED', 'VENDOR_ERROR', 'VENDOR_DOWN'],
  limits: { kept: '20 payment methods, open pages to leave one included.' },
  examples: [{ title: 'A page to leave a card at', input: { return_url: 'https://example.org/kept' } }],
  async run({ ctx, input }) {
    requireProvider(ctx.core.payments);
    const returnUrl = checkReturnUrl(input.return_url ?? null, ctx.core.baseUrl);
    return runOutside(ctx, async (enter) => {
      const { setup_id, checkout_url, expires_at } = await createSetup(ctx.core, ctx.accountId, enter, returnUrl);
      return { setup_id, checkout_url, expires_at: iso(expires_at) };
    });
  },
});
