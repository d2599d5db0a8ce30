// The ledger on the wallet's page: each movement with the balance after it, narrowed by time, capability and key, and as a file.

import { csv, csvHref } from '../../../../kit/console/csv.ts';
import { dayText, secondsTime } from '../../../../kit/console/day.ts';
import { type Period, periodControl, periodFields, periodOf } from '../../../../kit/console/period.ts';
import { keyFilter } from '../../../../kit/console/pick.ts';
import { more, type Page, table } from '../../../../kit/console/table.ts';
import { count, short } from '../../../../kit/console/text.ts';
import type { ItemOf, Visit } from '../../../../kit/console/visit.ts';
import { type Html, html } from '../../../../lib/html.ts';
import { ledgerKinds } from '../../capabilities/ledger-kinds.ts';
import { ledgerList } from '../../capabilities/ledger-list.ts';
import { type CallerNames, callerName } from '../usage/caller.ts';

export type Entry = ItemOf<typeof ledgerList>;

export const ROWS = 25;
const FILE_ROWS = 100;
/** Calls that a file may make: it holds the newest 2,000 entries of its period. */
const FILE_PAGES_MAX = 20;

export function ledgerFilter(visit: Visit) {
  const { from, to } = periodOf(visit, '30d');
  const text = (name: string) => visit.query.get(name)?.trim() || undefined;
  return { from, to, capability: text('capability'), key_id: text('key_id'), cursor: text('cursor') };
}

export function ledger(visit: Visit, page: Page<Entry>, period: Period, names: CallerNames): Html {
  const { capability, key_id: keyId } = ledgerFilter(visit);
  return html`${periodControl(visit, period)}
<form method="get" class="row" aria-label="Narrow the ledger">${periodFields(visit)}<label>Capability <input type="search" name="capability" value="${capability ?? ''}" placeholder="queue.publish" spellcheck="false"></label> ${keyFilter([...names], keyId)} <button>Filter</button></form>
${entries(visit, page, names)}${more(visit, page)}
<p><a href="${csvHref(visit)}">As CSV</a> <span class="quiet">the newest ${count(FILE_ROWS * FILE_PAGES_MAX)} of this choice</span></p>`;
}

function entries(visit: Visit, { items }: Page<Entry>, names: CallerNames): Html {
  return table({
    caption: 'Ledger',
    rows: items,
    groupOf: ({ created_at }) => dayText(visit, created_at),
    empty: html`<p>No entries in this period.</p>`,
    columns: [
      { title: 'What', cell: (entry) => entryText(entry) },
      {
        title: 'By',
        cell: ({ key_id: id }) => {
          if (id === null) return '';
          const name = short(callerName(visit, id, names), 40);
          return id.startsWith('key_') ? html`<a href="${visit.path(`/keys/${id}`)}">${name}</a>` : name;
        },
      },
      { title: 'Time', cell: ({ created_at }) => secondsTime(visit, created_at) },
      { title: 'Units', kind: 'number', cell: ({ units }) => count(units) },
      { title: 'Amount', usd: ({ amount_usd }) => amount_usd },
      { title: 'Balance after', usd: ({ balance_after_usd }) => balance_after_usd },
    ],
  });
}

function entryText(entry: Entry): string {
  const kind = entry.kind as keyof typeof ledgerKinds;
  return ledgerKinds[kind]?.words(entry) ?? kind;
}

/** The file begins at the newest entry, whatever page of the list is shown. */
export async function ledgerCsv(visit: Visit): Promise<string> {
  const rows: Entry[] = [];
  const filter = ledgerFilter(visit);
  let cursor: string | null | undefined;
  for (let page = 0; page < FILE_PAGES_MAX && cursor !== null; page += 1) {
    const found = await visit.need(ledgerList, { ...filter, cursor, limit: FILE_ROWS });
    rows.push(...found.items);
    cursor = found.next_cursor;
  }
  return csv(
    ['created_at', 'entry_id', 'kind', 'capability', 'key_id', 'units', 'amount_usd', 'balance_after_usd', 'reference'],
    rows.map((entry) => [
      ...[entry.created_at, entry.entry_id, entry.kind, entry.capability, entry.key_id],
      ...[entry.units, entry.amount_usd, entry.balance_after_usd, entry.reference],
    ]),
  );
}
