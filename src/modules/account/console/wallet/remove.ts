// Removing a card cannot be undone: here and at the payment provider it is forgotten, and only its holder can leave it again.

import type { ConsolePage, View } from '../../../../kit/console/page.ts';
import { countOf } from '../../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../../kit/console/typed.ts';
import type { Visit } from '../../../../kit/console/visit.ts';
import { html } from '../../../../lib/html.ts';
import { problem } from '../../../../problems/problem.ts';
import { paymentMethodDelete } from '../../capabilities/payment-method/delete.ts';
import { paymentMethodList } from '../../capabilities/payment-method/list.ts';
import { expiryOf, type Method, nameOf } from './methods.ts';

export const removeCardPage: ConsolePage = {
  name: 'wallet_remove_card',
  path: '/wallet/cards/{id}/remove',
  needs: paymentMethodDelete,
  show,
  acts: {
    remove: {
      capability: paymentMethodDelete,
      input(form, { params: { id = '' } }) {
        requireTyped(form, id, 'remove the card');
        return { payment_method_id: id };
      },
      done: 'Card removed.',
      next: () => '/wallet',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const { id } = visit.params;
  const { items } = await visit.need(paymentMethodList);
  const card = items.find((method) => method.payment_method_id === id);
  if (card === undefined) throw problem('NOT_FOUND');
  const end = expiryOf(card);
  const content = html`<p><a href="${visit.path('/wallet')}">Wallet</a></p>
<h1>Remove ${nameOf(card)}</h1>
<p>The card${end === null ? '' : `, which expires ${end},`} is deleted here and at the payment provider. To use it again, add it again. ${remainingCards(card, items.length - 1)}</p>
${typedForm(visit, 'remove', { wanted: card.payment_method_id, button: 'Remove card' })}`;
  return { title: 'Remove a card', content };
}

function remainingCards({ is_default: isUsual }: Method, others: number): string {
  if (others === 0) return 'No other card is saved. Auto-recharge and a plan need one.';
  const next = isUsual ? ', and the oldest becomes the default' : '';
  return `${countOf(others, 'other card')} stay${others === 1 ? 's' : ''}${next}.`;
}
