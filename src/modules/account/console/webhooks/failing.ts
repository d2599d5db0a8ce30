// Failing webhooks: those disabled because of failures, and enabled ones whose last attempt failed.
import { failingLine, failuresIn, firstLines, limitOf, nothingFails } from '../../../../kit/console/failing.ts';
import { failure } from '../../../../kit/console/failure.ts';
import { ago, short } from '../../../../kit/console/text.ts';
import type { Failures, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { webhooksDeliveries } from '../../capabilities/webhooks/deliveries.ts';
import { webhooksList } from '../../capabilities/webhooks/list.ts';
import { answerOf } from './deliveries.ts';
import { isBroken, standingText, type Webhook, webhookPath } from './webhook.ts';

const LIST_MAX = 100;
/** Their deliveries are a call for each. */
const WEBHOOKS_MAX = 10;
const DELIVERIES = 5;

export async function failingWebhooks(visit: Visit): Promise<Failures> {
  if (!visit.may(webhooksList)) return nothingFails;
  const read = await visit.call(webhooksList, { limit: LIST_MAX });
  const all = read.data?.items ?? [];
  const on = all.filter(({ status }) => status === 'enabled');
  const failed = new Map(
    await Promise.all(
      on.slice(0, WEBHOOKS_MAX).map(async ({ webhook_id: id }) => [id, await lastFailure(visit, id)] as const),
    ),
  );
  const rows = all.flatMap((webhook) => {
    const last = failed.get(webhook.webhook_id) ?? null;
    const told = isBroken(webhook) ? standingText(webhook) : (last?.text ?? null);
    return told === null ? [] : [webhookLine(visit, webhook, told)];
  });
  // What could not be read is told once, and nothing that fails.
  const [unread] = [...failed.values()].flatMap((last) => last?.unread ?? []);
  return failuresIn(visit, read, (page) => ({
    rows: [
      ...firstLines(rows, (n) => html`<a href="${visit.path('/webhooks')}">${n} more webhooks</a>`),
      ...(unread === undefined ? [] : [html`<li>${unread}</li>`]),
    ],
    count: rows.length,
    limits: [
      ...limitOf(page, `newest ${LIST_MAX} webhooks`),
      ...(on.length > WEBHOOKS_MAX ? [`deliveries of the newest ${WEBHOOKS_MAX} webhooks`] : []),
    ],
  }));
}

function webhookLine(visit: Visit, { webhook_id: id, url }: Webhook, told: Html | string): Html {
  return failingLine('Webhook', html`<a href="${visit.path(webhookPath(id))}">${short(url, 80)}</a> ${told}`);
}

interface LastAttempt {
  /** Null: it is not known. */
  readonly text: Html | null;
  /** Why it is not known. */
  readonly unread?: Html;
}

/** What became of the webhook's last attempt; null: it succeeded, or there was none. */
async function lastFailure(visit: Visit, id: string): Promise<LastAttempt | null> {
  const { data, problem, requestId } = await visit.call(webhooksDeliveries, { webhook_id: id, limit: DELIVERIES });
  if (problem !== null) return { text: null, unread: failure(visit, problem, requestId) };
  const attempts = data.items.flatMap((delivery) => delivery.attempts);
  const last = attempts.toSorted((one, other) => one.at.localeCompare(other.at)).at(-1);
  if (last === undefined || last.error_code === null) return null;
  return { text: html`delivery fails: ${answerOf(last)}, ${ago(visit, last.at)}` };
}
