// Search for objects of all modules by name or id. It calls the list capabilities as its caller, so it finds nothing that the caller could not
// list.
import Type, { type Static } from 'typebox';
import { admission } from '../../../core/admission.ts';
import { scopesAllow } from '../../../core/callers/scopes.ts';
import { defineCapability } from '../../../kit/capability.ts';
import type { Finder, Found } from '../../../kit/finder.ts';
import type { Offer } from '../../../kit/offer.ts';
import type { CallContext } from '../../../kit/services.ts';
import { JsonText } from '../../../lib/json-text.ts';
import { Problem } from '../../../problems/problem.ts';

const { textCharactersMax, pagesMax, pageItems, foundOfKindMax } = admission.call.search;

const text = (description: string) => Type.String({ description });

const item = Type.Object(
  {
    kind: text('What it is, such as queue, key or request.'),
    id: text('Its ID, or the name that identifies it.'),
    name: text('Its name; the ID where it has none.'),
    console_url: text('Its page of the console.'),
  },
  { title: 'FoundObject' },
);

/** Calls are too many to be listed. */
export const requestFinder: Finder = {
  kind: 'request',
  capability: 'account.requests.get',
  byId: { field: 'request_id', pattern: /^req_\w{1,60}$/ },
  of(item) {
    const { request_id: id, capability } = item as { readonly request_id: string; readonly capability: string };
    return { id, name: capability, path: `/requests/${id}` };
  },
};

/** Nobody looks for one but by the id that a program was told. */
export const approvalFinder: Finder = {
  kind: 'approval',
  capability: 'account.approvals.get',
  byId: { field: 'approval_id', pattern: /^apr_\w{1,60}$/ },
  of(item) {
    const { approval_id: id, capability } = item as { readonly approval_id: string; readonly capability: string };
    return { id, name: capability, path: `/approvals/${id}` };
  },
};

export const search = ({ finders }: Pick<Offer, 'finders'>) =>
  defineCapability()({
    method: 'GET',
    path: '/v1/account/search',
    summary: 'Finds objects of all modules by name or ID.',
    description:
      `Queues, schedules, collections, error groups, videos, keys and webhooks whose name or ID contains q, in any case; the call with that request_id; the person with that distinct ID; mail by an address that it went to or came from, or by words of its subject. Of each kind the first ${foundOfKindMax} ` +
      `among the first ${pagesMax * pageItems} of its list. A key finds the kinds that its scopes let it list. Each page of a list that is read counts as one call for the rate.`,
    keywords: ['find anything by name', 'look up an id', 'which object has this id', 'global search'],
    input: Type.Object({
      q: Type.String({ minLength: 1, maxLength: textCharactersMax, description: 'A part of a name or ID.' }),
    }),
    output: Type.Object({ items: Type.Array(item, { description: 'By kind.' }) }, { title: 'FoundObjects' }),
    examples: [
      {
        title: 'By a part of a name',
        before: [{ capability: 'queue.create', input: { name: 'sought-jobs' } }],
        input: { q: 'SOUGHT' },
        expect: { items: [{ kind: 'queue', id: 'sought-jobs', name: 'sought-jobs' }] },
      },
    ],
    async run({ ctx, input: { q } }) {
      const { principal, core } = ctx;
      const mine = finders.filter(({ capability }) => {
        const kind = core.knownScopes.kinds.get(capability);
        return kind !== undefined && scopesAllow(principal.scopes, capability, kind);
      });
      const found = await Promise.all(mine.map(async (each) => searchItems(ctx, each, await foundBy(ctx, each, q))));
      return { data: { items: found.flat() } };
    },
  });

function searchItems({ core }: CallContext, { kind }: Finder, found: readonly Found[]): Static<typeof item>[] {
  return found.map(({ id, name, path }) => ({ kind, id, name, console_url: `${core.baseUrl}/console${path}` }));
}

async function foundBy(ctx: CallContext, finder: Finder, q: string): Promise<readonly Found[]> {
  if (finder.byId !== undefined) return foundById(ctx, finder, finder.byId, q.trim());
  const sought = finder.searchOf?.(q.trim()) ?? null;
  if (sought !== null) {
    const { items }: ListedPage = await callList(ctx, finder, { ...sought, limit: foundOfKindMax });
    return items.map((each) => finder.of(each));
  }
  const wanted = q.toLowerCase();
  const isLike = (words: string) => words.toLowerCase().includes(wanted);
  const found: Found[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < pagesMax; page += 1) {
    const { items, next_cursor }: ListedPage = await callList(ctx, finder, {
      limit: pageItems,
      ...(cursor === null ? {} : { cursor }),
    });
    found.push(...items.map((each) => finder.of(each)).filter(({ id, name }) => isLike(id) || isLike(name)));
    cursor = next_cursor ?? null;
    if (cursor === null || found.length >= foundOfKindMax) break;
  }
  return found.slice(0, foundOfKindMax);
}

async function foundById(
  ctx: CallContext,
  finder: Finder,
  { field, pattern }: NonNullable<Finder['byId']>,
  id: string,
): Promise<readonly Found[]> {
  if (!pattern.test(id)) return [];
  try {
    return [finder.of(await callList(ctx, finder, { [field]: id }))];
  } catch (error) {
    if (error instanceof Problem && error.httpStatus === 404) return [];
    throw error;
  }
}

interface ListedPage {
  readonly items: readonly unknown[];
  readonly next_cursor?: string | null;
}

/** Each list that is read is a read of its own, for the rate too. */
async function callList<Data>(ctx: CallContext, { capability }: Finder, input: Record<string, unknown>): Promise<Data> {
  ctx.weigh(1);
  const { data } = await ctx.invoke(capability, input);
  return (data instanceof JsonText ? JSON.parse(data.text) : data) as Data;
}
