// Connections that do not work, or soon will not: broken ones, those that nobody has connected for a day, and those that expire in three days.
import { failingLine, failuresIn, firstLines, limitOf, nothingFails } from '../../../kit/console/failing.ts';
import { ago, short } from '../../../kit/console/text.ts';
import type { Failures, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { DAY_MS } from '../../../lib/time.ts';
import { list } from '../capabilities/connection/list.ts';
import { type Connection, connectionPath, VAULT } from './connection.ts';

const LIST_MAX = 100;
const PENDING_MS = DAY_MS;
const SOON_MS = 3 * DAY_MS;
const KIND = 'Connection';

export async function failingConnections(visit: Visit): Promise<Failures> {
  if (!visit.may(list)) return nothingFails;
  return failuresIn(visit, await visit.call(list, { limit: LIST_MAX }), (page) => {
    const rows = page.items.flatMap((connection) => lineOf(visit, connection) ?? []);
    return {
      rows: firstLines(rows, (n) => html`<a href="${visit.path(VAULT)}">${n} more connections</a>`),
      count: rows.length,
      limits: limitOf(page, `first ${LIST_MAX} connections`),
    };
  });
}

/** Null: it works. */
function lineOf(visit: Visit, connection: Connection): Html | null {
  const { connection: name, status, broken_reason: reason, updated_at: changedAt, expires_at: expiresAt } = connection;
  const link = html`<a href="${visit.path(connectionPath(name))}">${short(name, 64)}</a>`;
  if (status === 'broken')
    return failingLine(KIND, html`${link} is broken: ${short(reason ?? 'its credential was refused', 200)}`);
  if (status === 'pending' && visit.nowMs - Date.parse(changedAt) > PENDING_MS)
    return failingLine(
      KIND,
      html`${link} was asked for ${ago(visit, changedAt)}, and nobody has connected it`,
      'warning',
    );
  if (status === 'ready' && expiresAt !== null && Date.parse(expiresAt) - visit.nowMs < SOON_MS)
    return failingLine(KIND, html`${link} expires ${ago(visit, expiresAt)}`, 'warning');
  return null;
}
