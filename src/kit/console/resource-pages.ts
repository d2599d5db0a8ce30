// The pages of one thing of the account, such as a schedule, from a description: its own page, those below it, and the one that deletes it. All
// but the last have its heading and, where there are several, tabs that lead from one to the other. Tabs, settings and the danger zone show
// only what the visitor may. `modules/cron/console/one.ts` is an example; in short:
//
//   export const schedulePages = resourcePages({
//     name: 'schedule',
//     noun: 'schedule',
//     path: '/schedules/{id}',
//     list: { title: 'Schedules', path: '/schedules' },
//     needs: get,
//     read: (visit) => visit.need(get, { job_id: visit.params.id }),
//     nameOf: ({ name, job_id: id }) => name ?? id,
//     badge: (_, job) => stateOf(job),
//     pages: [runsPage, settings],          // ResourcePage, settingsPage
//     deletion: { capability: remove, warning: …, effect: … },
//   });
import { type Html, html } from '../../lib/html.ts';
import { type Danger, dangerLink, dangerZone } from './danger-zone.ts';
import { actForm } from './form.ts';
import { asksForNew, type NewForm, newView } from './new.ts';
import type { Act, ConsolePage, View } from './page.ts';
import { pageTabs } from './table.ts';
import { short } from './text.ts';
import { deletionPage, type Paragraphs } from './typed.ts';
import type { Visit } from './visit.ts';

const HEADING_CHARACTERS_MAX = 160;
const UPDATE = 'update';

/** `name`: of its own page; the others are called after what is below it, such as `queue_settings`. */
export interface ResourcePages<One> extends Pick<ConsolePage, 'name' | 'needs'> {
  /** What one is called: `queue`. */
  readonly noun: string;
  /** Below /console, with a parameter that names the one: `/queues/{name}`. */
  readonly path: string;
  /** The page that lists them, whose path is below /console. */
  readonly list: { readonly title: string; readonly path: string };
  /** What the pages show. Throws the Problem of what is not there. */
  read(visit: Visit): Promise<One>;
  /** What a person calls it: title and heading of its pages. */
  nameOf(one: One): string;
  /** Its state, beside the heading. */
  badge?(visit: Visit, one: One): Html | undefined;
  /** What stands on each of its pages between heading and tabs, such as a line about it and its figures. */
  about?(visit: Visit, one: One): Html;
  /** Its pages are fetched again after so long: see `View`. */
  againSeconds?(one: One): number | undefined;
  /** Its own page first, then those below it. The last one ends with the danger zone. */
  readonly pages: readonly ResourcePage<One>[];
  /** What else ends something of it, above its deletion; null: the visitor may not. */
  dangers?(visit: Visit, one: One): readonly (Danger | null)[];
  readonly deletion?: ResourceDeletion<One>;
}

export interface ResourcePage<One> extends Pick<ConsolePage, 'isLive' | 'jsonl' | 'acts'> {
  /** Below the address of the one: `/settings`. Empty: it is its own page. */
  readonly below: '' | `/${string}`;
  /** Text of its tab; a page without others has none. */
  readonly tab?: string;
  /** Its title, with the name of the one; that name when absent. */
  title?(name: string): string;
  /** Absent: as all pages of the resource. */
  readonly needs?: ConsolePage['needs'];
  /** A "New …" form that its content or actions lead to. Its act is one of the page's own. */
  readonly newForm?: NewForm;
  /** Buttons beside the heading. */
  actions?(visit: Visit, one: One): Html | undefined;
  /** What stands below the heading and the tabs. */
  show(visit: Visit, one: One): ResourceView | Promise<ResourceView>;
}

type ResourceView = Omit<View, 'title'>;

interface ResourceDeletion<One> {
  readonly capability: Pick<ConsolePage['needs'], 'id'>;
  /** The capability's field that names the one; called as the parameter of the path when absent. */
  readonly field?: string;
  /** In the danger zone: what is gone afterwards, in a sentence. */
  warning(one: One): string;
  /** On the page that asks for the name: what is gone, in numbers, and what stays. */
  effect(visit: Visit, one: One): Paragraphs | Promise<Paragraphs>;
  /** Of that page; each is `Delete the queue` when absent. */
  readonly title?: string;
  heading?(one: One): string;
  /** Told afterwards; `Queue deleted.` when absent. */
  readonly done?: string;
}

export function resourcePages<One>(of: ResourcePages<One>): readonly ConsolePage[] {
  const shown = of.pages.map((page) => ({
    name: `${of.name}${page.below.replace('/', '_')}`,
    path: `${of.path}${page.below}`,
    needs: page.needs ?? of.needs,
    isLive: page.isLive,
    acts: page.acts,
    jsonl: page.jsonl,
    show: (visit: Visit) => resourceView(visit, of, page),
  }));
  return of.deletion === undefined ? shown : [...shown, deletionOf(of, of.deletion)];
}

async function resourceView<One>(visit: Visit, of: ResourcePages<One>, page: ResourcePage<One>): Promise<View> {
  if (page.newForm !== undefined && asksForNew(visit, page.newForm)) return newView(visit, page.newForm);
  const one = await of.read(visit);
  const { content, ...view } = await page.show(visit, one);
  const body = html`<p><a href="${visit.path(of.list.path)}">${of.list.title}</a></p>
${headingOf(visit, of, page, one)}
${of.about?.(visit, one) ?? ''}
${tabsOf(visit, of, page)}
${content}
${page === of.pages.at(-1) ? dangersOf(visit, of, one) : ''}`;
  const name = of.nameOf(one);
  const againSeconds = view.againSeconds ?? of.againSeconds?.(one);
  return { ...view, title: page.title?.(name) ?? name, content: body, againSeconds };
}

function headingOf<One>(visit: Visit, of: ResourcePages<One>, page: ResourcePage<One>, one: One): Html {
  const heading = html`<h1>${short(of.nameOf(one), HEADING_CHARACTERS_MAX)}</h1>`;
  const badge = of.badge?.(visit, one);
  const named = badge === undefined ? heading : html`<div class="head named">${heading}<p>${badge}</p></div>`;
  const actions = page.actions?.(visit, one);
  return html`<div class="head">${named}${actions === undefined ? '' : html`<div class="actions">${actions}</div>`}</div>`;
}

/** Those that the visitor may see. */
function tabsOf<One>(visit: Visit, of: ResourcePages<One>, here: ResourcePage<One>): Html {
  if (of.pages.length === 1) return html``;
  const pages = of.pages.filter(({ needs = of.needs }) => visit.may(needs));
  return pageTabs(
    `Pages of the ${of.noun}`,
    pages.map((page) => ({
      text: page.tab ?? '',
      href: visit.path(addressOf(visit, of.path, page.below)),
      isHere: page === here,
    })),
  );
}

function dangersOf<One>(visit: Visit, of: ResourcePages<One>, one: One): Html {
  const { noun, path, deletion } = of;
  const dangers = of.dangers?.(visit, one) ?? [];
  if (deletion === undefined || !visit.may(deletion.capability)) return dangerZone(dangers);
  const act = dangerLink(visit.path(addressOf(visit, path, '/delete')), 'Delete…');
  return dangerZone([...dangers, { title: `Delete this ${noun}`, text: deletion.warning(one), act }]);
}

function deletionOf<One>(of: ResourcePages<One>, deletion: ResourceDeletion<One>): ConsolePage {
  const { name, noun, path, list } = of;
  const { capability, field, title, done } = deletion;
  const read = onceAVisit((visit) => of.read(visit));
  return deletionPage({
    name: `${name}_delete`,
    path: `${path}/delete`,
    noun,
    title,
    capability,
    field,
    done,
    nameOf: async (visit) => of.nameOf(await read(visit)),
    async about(visit) {
      const one = await read(visit);
      const back = { label: of.nameOf(one), path: addressOf(visit, path, of.pages.at(-1)?.below ?? '') };
      const text = await deletion.effect(visit, one);
      return { back, heading: deletion.heading?.(one), text };
    },
    next: list.path,
  });
}

/** The name to be typed and the text of the page come of one read. */
function onceAVisit<One>(read: (visit: Visit) => Promise<One>): (visit: Visit) => Promise<One> {
  const begun = new WeakMap<Visit, Promise<One>>();
  return (visit) => {
    const one = begun.get(visit) ?? read(visit);
    begun.set(visit, one);
    return one;
  };
}

/** Below /console: the address of what is visited, and what follows it. */
function addressOf({ params }: Visit, path: string, below: string): string {
  return `${path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))}${below}`;
}

interface Settings<One> extends Pick<ConsolePage, 'isLive'>, Pick<Act, 'capability' | 'input' | 'done'> {
  /** Name of the act; `update` when absent. */
  readonly act?: string;
  /** The fields, with the values that the one has. */
  fields(visit: Visit, act: string, one: One): Html | Promise<Html>;
  /** Why this one cannot be changed; null: it can. */
  fixed?(one: One): string | null;
  /** What who may not change it sees of it. */
  facts?(visit: Visit, one: One): Html;
}

/** The page on which the settings of a resource are changed: a form with a button that saves them. */
export function settingsPage<One>({ act = UPDATE, isLive, ...of }: Settings<One>): ResourcePage<One> {
  const { capability, input, done } = of;
  async function content(visit: Visit, one: One): Promise<Html> {
    const fixed = of.fixed?.(one) ?? null;
    if (fixed !== null) return html`<p class="quiet">${fixed}</p>`;
    if (!visit.may(capability)) return of.facts?.(visit, one) ?? html`<p class="quiet">You may not change it.</p>`;
    const fields = await of.fields(visit, act, one);
    return actForm(visit, act, html`${fields}<button class="main">Save</button>`);
  }
  return {
    below: '/settings',
    tab: 'Settings',
    title: (name) => `Settings of ${name}`,
    isLive,
    acts: { [act]: { capability, input, done } },
    show: async (visit, one) => ({ content: await content(visit, one) }),
  };
}
