// Page that removes a card. It cannot be undone: the card is deleted here and at the payment provider, and only its holder can add it again.

import { countOf } from '../../../../kit/console/text.ts';
import { typedPage } from '../../../../kit/console/typed.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { html } from '../../../../lib/html.ts';
import { problem } from '../../../../problems/problem.ts';
import { paymentMethodDelete } from '../../capabilities/payment-method/delete.ts';
import { paymentMethodList } from '../../capabilities/payment-method/list.ts';
import { expiryOf, type Method, nameOf } from './methods.ts';

export const removeCardPage = typedPage({
  name: 'wallet_remove_card',
  path: '/wallet/cards/{id}/remove',
  capability: paymentMethodDelete,
  field: 'payment_method_id',
  act: 'remove',
  what: 'remove the card',
  button: 'Remove card',
  title: 'Remove a card',
  nameOf: async (visit) => (await readCard(visit)).card.last4,
  async about(visit) {
    const { card, items } = await readCard(visit);
    const end = expiryOf(card);
    return {
      back: { label: 'Wallet', path: '/wallet' },
      heading: html`Remove ${nameOf(card)}`,
      text: `The card${end === null ? '' : `, which expires ${end},`} is deleted here and at the payment provider. To use it again, add it again. ${remainingCards(card, items.length - 1)}`,
    };
  },
  done: 'Card removed.',
  next: () => '/wallet',
});

async function readCard(visit: Visit) {
  const { items } = await visit.need(paymentMethodList);
  const card = items.find((method) => method.payment_method_id === visit.params.id);
  if (card === undefined) throw problem('NOT_FOUND');
  return { card, items };
}

function remainingCards({ is_default: isUsual }: Method, others: number): string {
  if (others === 0) return 'No other card is saved. Auto-recharge and a plan need one.';
  const next = isUsual ? ', and the oldest becomes the default' : '';
  return `${countOf(others, 'other card')} stay${others === 1 ? 's' : ''}${next}.`;
}
