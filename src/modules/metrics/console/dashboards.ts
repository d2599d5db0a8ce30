// Dashboards: the list, and a dashboard with its panels drawn. A panel is added, changed, moved and removed by sending the panels as they are
// then: the capability knows only all of them.
import { failure } from '../../../kit/console/failure.ts';
import { field, formFields, formKeyField, jsonOf, sentOf, textOf, tokenField } from '../../../kit/console/form.ts';
import { listPage } from '../../../kit/console/list-page.ts';
import { newLink } from '../../../kit/console/new.ts';
import { type Act, actOf, type ConsolePage } from '../../../kit/console/page.ts';
import { type ResourcePage, resourcePages, settingsPage } from '../../../kit/console/resource-pages.ts';
import { withQuery } from '../../../kit/console/table.ts';
import { ago, count, countOf, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { dashboards, PANELS_MAX } from '../capabilities/dashboards.ts';
import { queryRange } from '../capabilities/query-range.ts';
import { graphOf, seriesOf } from './graph.ts';
import { periodField, periodFrom, type Range, rangeOf } from './range.ts';

type Dashboard = DataOf<typeof dashboards.get>;
type Panel = Dashboard['panels'][number];

const PATH = '/metrics/dashboards';
const AGAIN_SECONDS = 30;
/** Queries of a page at once. */
const LANES = 2;
const PANELS_FORM = 'panels-form';

export const dashboardsPage = listPage({
  name: 'dashboards',
  path: PATH,
  title: 'Dashboards',
  back: { title: 'Metrics', path: '/metrics' },
  list: dashboards.list,
  caption: 'Dashboards',
  columns: (visit) => [
    {
      title: 'Dashboard',
      cell: ({ dashboard_id: id, name }) => html`<a href="${visit.path(pathOf(id))}">${short(name)}</a>`,
    },
    { title: 'Panels', kind: 'number', cell: ({ panel_count: panels }) => count(panels) },
    { title: 'Changed', cell: ({ updated_at: at }) => ago(visit, at) },
  ],
  empty: () => html`<p>No dashboards yet. A dashboard keeps queries under a name and draws them on one page.</p>`,
  create: {
    capability: dashboards.create,
    heading: 'New dashboard',
    input: (form) => ({ name: textOf(form, 'name'), panels: [] }),
    done: 'Dashboard created. Add its first panel.',
    next: ({ dashboard_id: id }) => pathOf(id),
    form: (visit, act) =>
      html`${field(visit, act, { name: 'name', label: 'Name', isRequired: true, attributes: html`maxlength="100"` })}<button class="main">Create</button>`,
  },
});

const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;

/** Fields of a panel's form that were typed, as a panel. */
const panelIn = (form: URLSearchParams) => ({
  title: textOf(form, 'title'),
  query: textOf(form, 'query'),
  unit: textOf(form, 'unit') ?? null,
});

/** The panels that the form was made with. */
function panelsIn(form: URLSearchParams): readonly unknown[] {
  const sent = jsonOf(form, 'panels');
  return Array.isArray(sent) ? sent : [];
}

function panelAct(
  done: string,
  change: (panels: readonly unknown[], form: URLSearchParams) => readonly unknown[],
): Act {
  return actOf({
    capability: dashboards.update,
    done,
    input: (form, { params }) => ({ dashboard_id: params.id, panels: change(panelsIn(form), form) }),
    next: ({ dashboard_id: id }) => pathOf(id),
  });
}

function movePanel(panels: readonly unknown[], from: number, to: number): readonly unknown[] {
  const [panel] = panels.slice(from, from + 1);
  const others = panels.toSpliced(from, 1);
  return panel === undefined ? panels : others.toSpliced(to, 0, panel);
}

const places = Array.from({ length: PANELS_MAX }, (_, i) => i);
const ADD = 'add';
const CHANGE = 'change';
const placeActs = Object.fromEntries(
  places.flatMap((i) => [
    [`up-${i}`, panelAct('Panel moved.', (panels) => movePanel(panels, i, Math.max(0, i - 1)))],
    [`down-${i}`, panelAct('Panel moved.', (panels) => movePanel(panels, i, i + 1))],
    [`remove-${i}`, panelAct('Panel removed.', (panels) => panels.toSpliced(i, 1))],
  ]),
);

function panelFields(visit: Visit, act: string, panel: Partial<Panel>): Html {
  const text = field(visit, act, {
    name: 'query',
    label: 'Query (PromQL)',
    value: panel.query ?? '',
    isRequired: true,
    rows: 3,
    hint: 'The explorer of Metrics writes it for you.',
  });
  return html`${field(visit, act, { name: 'title', label: 'Title', value: panel.title ?? '', isRequired: true, attributes: html`maxlength="100"` })}
${text}${field(visit, act, { name: 'unit', label: 'Unit', value: panel.unit ?? '', hint: 'Such as ms. Empty: none.', attributes: html`maxlength="20"` })}`;
}

const hiddenPanels = (visit: Visit, act: string, panels: readonly Panel[]) =>
  html`<input type="hidden" name="panels" value="${sentOf(visit, act, 'panels') ?? JSON.stringify(panels)}">`;

const newPanel = {
  act: ADD,
  heading: 'New panel',
  capability: dashboards.update,
  async form(visit: Visit, act: string) {
    const { panels } = await visit.need(dashboards.get, { dashboard_id: visit.params.id });
    const query = visit.query.get('query') ?? '';
    return html`${hiddenPanels(visit, act, panels)}${panelFields(visit, act, { query })}<button class="main">Add panel</button>`;
  },
};

const board: ResourcePage<Dashboard> = {
  below: '',
  tab: 'Panels',
  isLive: true,
  newForm: newPanel,
  acts: {
    [ADD]: panelAct('Panel added.', (panels, form) => [...panels, panelIn(form)]),
    [CHANGE]: panelAct('Panel saved.', (panels, form) => panels.with(placeIn(form, panels), panelIn(form))),
    ...placeActs,
  },
  actions: (visit) => newLink(visit, newPanel),
  async show(visit, of) {
    const asked = visit.refused?.act === CHANGE ? visit.refused.form.get('place') : visit.query.get('edit');
    const panel = asked === null ? undefined : of.panels[Number(asked)];
    if (asked !== null && panel !== undefined && visit.may(dashboards.update))
      return { content: changeForm(visit, of.panels, panel, asked) };
    return { content: await drawnPanels(visit, of), hasPlots: true, againSeconds: AGAIN_SECONDS };
  },
};

/** Throws nothing: a place that is none is refused as a panel without a title would be. */
function placeIn(form: URLSearchParams, panels: readonly unknown[]): number {
  const place = Number(form.get('place'));
  return Number.isInteger(place) && place >= 0 && place < panels.length ? place : 0;
}

function changeForm(visit: Visit, panels: readonly Panel[], panel: Panel, place: string): Html {
  return html`<section class="panel"><h2>Change a panel</h2>
<form method="post" class="act">${formFields(visit, CHANGE)}${hiddenPanels(visit, CHANGE, panels)}<input type="hidden" name="place" value="${place}">
${panelFields(visit, CHANGE, panel)}<button class="main">Save panel</button> <a href="${withQuery(visit, { edit: null })}">Cancel</a></form></section>`;
}

async function drawnPanels(visit: Visit, of: Dashboard): Promise<Html> {
  const period = periodFrom(visit);
  const range = rangeOf(period);
  const control = html`<form method="get" class="row" role="search" aria-label="Time">${periodField(period)} <button>Show</button></form>`;
  if (of.panels.length === 0)
    return html`<p class="empty">No panels yet. Add one, or open a metric and add its query.</p>`;
  const drawn = await inLanes(of.panels, (panel, i) => drawnPanel(visit, panel, captionOf(of.panels, i), range));
  const last = of.panels.length - 1;
  const mayChange = visit.may(dashboards.update);
  const shown = drawn.map((content, i) => {
    const asked = String(new URLSearchParams({ query: of.panels[i]?.query ?? '', period }));
    return html`<section class="panel">${content}
<div class="actions"><a href="${visit.path('/metrics')}?${asked}">Open in the explorer</a>${mayChange ? panelActs(visit, i, last) : ''}</div></section>`;
  });
  // One form for the buttons of all panels: it holds the panels once, and each button names its act.
  const form = mayChange
    ? html`<form method="post" id="${PANELS_FORM}" hidden>${tokenField(visit)}${formKeyField()}${hiddenPanels(visit, 'none', of.panels)}</form>`
    : '';
  return html`${control}${form}<div class="boards">${shown}</div>`;
}

function panelActs(visit: Visit, i: number, last: number): Html {
  const button = (act: string, label: string) =>
    html` <button form="${PANELS_FORM}" name="act" value="${act}-${String(i)}">${label}<span class="unseen"> panel ${String(i + 1)}</span></button>`;
  return html` <a href="${withQuery(visit, { edit: String(i) })}">Change</a>${i === 0 ? '' : button('up', 'Move up')}${i === last ? '' : button('down', 'Move down')}${button('remove', 'Remove')}`;
}

/** Its title, told apart from those before it: figures are found by their captions. */
function captionOf(panels: readonly Panel[], i: number): string {
  const title = panels[i]?.title ?? '';
  const before = panels.slice(0, i).filter((panel) => panel.title === title).length;
  return before === 0 ? title : `${title} (${before + 1})`;
}

async function drawnPanel(visit: Visit, { query, unit }: Panel, caption: string, range: Range): Promise<Html> {
  const found = await visit.call(queryRange, {
    query,
    step_seconds: range.stepMs / 1_000,
    from: new Date(range.startMs).toISOString(),
    to: new Date(range.endMs).toISOString(),
  });
  if (found.problem !== null) return html`<h2>${caption}</h2>${failure(visit, found.problem, found.requestId)}`;
  return graphOf(seriesOf(found.data.result), range, { caption, unit: unit ?? '' });
}

/** What `make` answers for each, in their order, a few at once. */
async function inLanes<Item, Made>(
  items: readonly Item[],
  make: (item: Item, i: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  const queue = items.entries();
  async function lane() {
    for (const [i, item] of queue) made[i] = await make(item, i);
  }
  await Promise.all(Array.from({ length: LANES }, lane));
  return made;
}

export const dashboardPages: readonly ConsolePage[] = resourcePages<Dashboard>({
  name: 'dashboard',
  noun: 'dashboard',
  path: `${PATH}/{id}`,
  list: { title: 'Dashboards', path: PATH },
  needs: dashboards.get,
  read: (visit) => visit.need(dashboards.get, { dashboard_id: visit.params.id }),
  nameOf: ({ name }) => name,
  pages: [
    board,
    settingsPage<Dashboard>({
      capability: dashboards.update,
      done: 'Saved.',
      input: (form, { params }) => ({ dashboard_id: params.id, name: textOf(form, 'name') }),
      fields: (visit, act, { name }) =>
        field(visit, act, {
          name: 'name',
          label: 'Name',
          value: name,
          isRequired: true,
          attributes: html`maxlength="100"`,
        }),
    }),
  ],
  deletion: {
    capability: dashboards.remove,
    field: 'dashboard_id',
    warning: () => 'Its panels are gone. Metrics stay.',
    effect: (_, { panels }) => `${countOf(panels.length, 'panel')} of it are gone. The metrics that they show stay.`,
  },
});
