// A person at a page of the sandbox: leaves a card there, as a browser sends the form, and comes back.
import { expect } from 'vitest';

/** `checkoutUrl` of account.payment_method.attach. */
export async function leaveCard(checkoutUrl: string, card = 'pays'): Promise<void> {
  const { origin } = new URL(checkoutUrl);
  const send = async (fields: Record<string, string>) => {
    const answer = await fetch(checkoutUrl, { method: 'POST', body: new URLSearchParams(fields), headers: { origin } });
    expect(answer.status).toBe(200);
    return answer.text();
  };
  const asked = await send({ card });
  const kept = asked.includes('value="confirm"') ? await send({ action: 'confirm' }) : asked;
  const back = /href="([^"]*\/pay\/return\/[^"]+)"/.exec(kept)?.[1];
  if (back === undefined) throw new Error('the page of the sandbox has no way back');
  const returned = await fetch(back, { redirect: 'manual' });
  expect([200, 303]).toContain(returned.status);
}
