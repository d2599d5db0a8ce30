// A page that lists what a capability lists, page by page, with a button that leads to the form for a new one.
import type { Static, TSchema } from 'typebox';
import { type Html, html } from '../../lib/html.ts';
import { panel } from './failure.ts';
import { asksForNew, type NewForm, newAction, newView, titleWithNew } from './new.ts';
import type { Act, ConsolePage } from './page.ts';
import { type Column, more, type Page, table, tabs, withQuery } from './table.ts';
import type { Callable, Visit } from './visit.ts';

const ROWS = 25;
const CREATE = 'create';

type Item<Out extends TSchema> = Static<Out> extends { readonly items: readonly (infer Of)[] } ? Of : never;

export interface ListPage<Out extends TSchema, Made extends TSchema>
  extends Pick<ConsolePage, 'name' | 'path' | 'nav'> {
  readonly title: string;
  /** The page that leads here, whose path is below /console. */
  readonly back?: { readonly title: string; readonly path: string };
  /** A sentence below the title. */
  readonly intro?: string;
  /** Between the title and that: links to the other pages of what it belongs to. */
  above?(visit: Visit): Html;
  readonly list: Callable<Out>;
  /** Heading of the list. */
  readonly caption: string;
  /** A promise where they need what another call answers, such as names. */
  columns(visit: Visit): readonly Column<Item<Out>>[] | Promise<readonly Column<Item<Out>>[]>;
  /** What stands there while there is nothing. */
  empty(visit: Visit): Html;
  /** A field of the list that the page narrows it by. */
  readonly filter?: { readonly name: string; readonly label: string; readonly values: readonly string[] };
  /** Further fields of the list, each as somebody types it. */
  readonly search?: readonly { readonly name: string; readonly label: string; readonly placeholder?: string }[];
  readonly create?: Act<Callable<Made>> & Pick<NewForm, 'heading' | 'intro' | 'form'>;
  /** What its rows can do, by the `act` that they send. */
  readonly acts?: ConsolePage['acts'];
}

export function listPage<Out extends TSchema, Made extends TSchema = TSchema>(of: ListPage<Out, Made>): ConsolePage {
  const { name, path, nav, title, back, intro, list, caption, create, acts = {} } = of;
  const newForm = create === undefined ? null : { ...create, act: CREATE };
  return {
    name,
    path,
    nav,
    needs: list,
    isLive: true,
    acts: create === undefined ? acts : { ...acts, [CREATE]: create },
    actions: create === undefined ? [] : [newAction(path, create)],
    async show(visit) {
      if (newForm !== null && asksForNew(visit, newForm)) return newView(visit, newForm);
      const asked = of.filter === undefined ? undefined : visit.query.get(of.filter.name) || undefined;
      const typed = (of.search ?? []).flatMap(({ name: field }) => {
        const text = visit.query.get(field)?.trim() || undefined;
        return text === undefined ? [] : [[field, text] as const];
      });
      const narrowed = {
        ...(of.filter === undefined ? {} : { [of.filter.name]: asked }),
        ...Object.fromEntries(typed),
      };
      const cursor = visit.query.get('cursor') ?? undefined;
      const [read, columns] = await Promise.all([
        visit.call(list, { ...narrowed, cursor, limit: ROWS }),
        of.columns(visit),
      ]);
      const content = html`${back === undefined ? '' : html`<p><a href="${visit.path(back.path)}">${back.title}</a></p>`}
${titleWithNew(visit, title, newForm)}
${of.above?.(visit) ?? ''}
${intro === undefined ? '' : html`<p>${intro}</p>`}
${panel(visit, caption, read, (data) => {
  const page = data as Page<Item<Out>>;
  return html`${filterTabs(visit, of.filter, asked)}${searchForm(visit, of)}${table({ caption, rows: page.items, empty: of.empty(visit), columns })}${more(visit, page)}`;
})}`;
      return { title, content };
    },
  };
}

function searchForm(
  visit: Visit,
  { search = [], filter, caption }: Pick<ListPage<TSchema, TSchema>, 'search' | 'filter' | 'caption'>,
): Html {
  if (search.length === 0) return html``;
  const kept = filter === undefined ? null : (visit.query.get(filter.name) ?? null);
  const fields = search.map(
    ({ name, label, placeholder = '' }) =>
      html`<label>${label} <input type="search" name="${name}" value="${visit.query.get(name) ?? ''}" placeholder="${placeholder}" spellcheck="false" autocapitalize="off"></label> `,
  );
  return html`<form method="get" class="row" role="search" aria-label="Search ${caption.toLowerCase()}">${kept === null ? '' : html`<input type="hidden" name="${filter?.name ?? ''}" value="${kept}">`}${fields}<button>Search</button></form>
`;
}

/** Links to the whole list and to each part of it. */
export function filterTabs(visit: Visit, filter: ListPage<TSchema, TSchema>['filter'], here: string | undefined): Html {
  if (filter === undefined) return html``;
  const entries = [undefined, ...filter.values].map((value) => ({
    text: capitalise(value ?? 'all'),
    href: withQuery(visit, { [filter.name]: value ?? null, cursor: null }),
    isHere: value === here,
  }));
  return tabs(filter.label, entries);
}

const capitalise = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
