// The routes of the console: each page by GET, its forms by POST to the same address, what browsers load for it, and the stream of ticks.
// A visit acts as its session: what was ended or narrowed counts at once.
import { admission } from '../../core/admission.ts';
import type { Principal } from '../../core/callers/principal.ts';
import { moduleOf } from '../../core/callers/scopes.ts';
import { failure } from '../../kit/console/failure.ts';
import { NEW } from '../../kit/console/new.ts';
import { type Act, type ConsolePage, type ModuleConsole, navGroups, type View } from '../../kit/console/page.ts';
import type { Read } from '../../kit/console/visit.ts';
import type { RawAnswer, RawHead, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { html } from '../../lib/html.ts';
import { once } from '../../lib/once.ts';
import type { Manifest } from '../../manifest/manifest.ts';
import { sessionCredential } from '../../people/sessions/principal.ts';
import { endSession } from '../../people/sessions/sessions.ts';
import { Problem, problem } from '../../problems/problem.ts';
import { foreignFormPage, message, retryAfter } from '../pages/message.ts';
import { readForm } from '../pages/own-form.ts';
import { isFormOf, localPath, pathTo, redirect, signInFirst, visitorOf, withoutStaleCookie } from '../pages/visitor.ts';
import { pageAt } from './address.ts';
import { type Assets, loadAssets } from './assets/assets.ts';
import { findPage } from './find.ts';
import { consoleAnswer, type Framed } from './frame.ts';
import { LiveTicks } from './live.ts';
import { performAct } from './perform-act.ts';
import { preferencesCookie, preferencesOf } from './preferences.ts';
import { type Standing, Standings } from './standing.ts';
import { tryPage } from './try/try-page.ts';
import { PageVisit, type VisitParts } from './visit.ts';

const { consoleFormBytesMax: formBytesMax } = admission.doors;
const FORM_KEY = /^[0-9a-f]{32}$/;
const ROOT = '/console';
/** Sent by the script of an open page with what it fetches by itself: nobody uses the session by that. */
const REFETCH_HEADER = 'x-qm-refetch';
/** What a page is as a file. */
const fileTypes = { csv: 'text/csv; charset=utf-8', jsonl: 'application/jsonl; charset=utf-8' } as const;

interface Console {
  readonly core: Services;
  readonly manifest: Manifest;
  readonly assets: Assets;
  readonly ticks: LiveTicks;
  readonly standings: Standings;
  readonly consoles: readonly ModuleConsole[];
  /** Those of this deployment. */
  readonly pages: readonly ConsolePage[];
}

export function consoleRoutes(services: () => Services, manifest: Manifest): readonly RawRoute[] {
  // Made when somebody first asks: who never opens the console has no memory of it.
  const assets = once(loadAssets);
  const ticks = once(() => new LiveTicks(services(), manifest));
  const standings = once(() => new Standings());
  const offered = once(() => pagesOf(manifest));
  const route = (
    name: string,
    path: string,
    rest: Pick<RawRoute, 'methods' | 'answer' | 'stream' | 'isOfPages'>,
  ): RawRoute => ({
    name: `console.${name}`,
    path: `${ROOT}${path}`,
    capability: null,
    entryForm: 'console',
    bodyBytesMax: formBytesMax,
    refuse: refusal,
    ...rest,
  });
  const pageRoute = (path: string) =>
    route('page', path, {
      methods: ['GET', 'POST'],
      answer: async (request) => {
        const [files, brought] = await Promise.all([assets(), offered()]);
        return answerVisit(
          { core: services(), manifest, assets: files, ticks: ticks(), standings: standings(), ...brought },
          request,
        );
      },
    });
  return [
    route('assets', '/assets/{file}', {
      methods: ['GET'],
      isOfPages: true,
      answer: async (request) => (await assets()).answer(request.params.file ?? '', request) ?? noSuchPage(services()),
    }),
    route('live', '/live', {
      methods: ['GET'],
      stream: 'answer',
      answer: (request) => follow(services(), ticks(), request),
    }),
    route('view', '/view', { methods: ['POST'], answer: (request) => setPreferences(services(), request) }),
    pageRoute(''),
    pageRoute('/{rest*}'),
  ];
}

/** What the modules bring, each page where the visitor may need it; by the parts of the navigation, and there in the order of the modules. */
async function pagesOf(manifest: Manifest): Promise<Pick<Console, 'consoles' | 'pages'>> {
  const { modules, byId } = manifest;
  const brought = await Promise.all(modules.map(async (module) => module.console?.()));
  const consoles = brought.filter((each) => each !== undefined);
  const all = [...consoles.flatMap(({ pages }) => pages), findPage, tryPage(manifest)].filter(({ needs }) =>
    byId.has(needs.id),
  );
  const place = ({ nav }: ConsolePage) => (nav === undefined ? 0 : navGroups.indexOf(nav.group));
  return { consoles, pages: all.toSorted((one, other) => place(one) - place(other)) };
}

async function answerVisit(
  { core, manifest, assets, ticks, standings, consoles, pages }: Console,
  request: RawRequest,
): Promise<RawAnswer> {
  const [path = ''] = request.url.split('?');
  const found = pageAt(pages, path.slice(ROOT.length));
  if (found === null) return noSuchPage(core);
  const { page, params } = found;
  const isUse = request.method === 'POST' || request.headers[REFETCH_HEADER] === undefined;
  const visitor = await visitorOf(core, request, { isUse });
  if (visitor === null) return withHeaders(signInFirst(core, request), withoutStaleCookie(core, request));
  const form = request.method === 'POST' ? readForm(request.headers, request.body) : null;
  if (form !== null && !isFormOf(core, request, form, visitor)) return foreignFormPage();
  let principal: Principal;
  try {
    principal = await request.identify(sessionCredential(visitor.session));
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'INVALID_API_KEY') throw error;
    // Of a key that has ended, or of a person without this account: nothing is left to be signed in to.
    await endSession(core.db, visitor.session.sessionId);
    return withHeaders(signInFirst(core, request), withoutStaleCookie(core, request));
  }
  const parts: VisitParts = {
    core,
    manifest,
    consoles,
    request,
    params,
    visitor,
    principal,
    preferences: preferencesOf(request),
  };
  const since = page.isLive === true && form === null ? await ticks.mark(principal.accountId) : null;
  const framed: FramedPage = {
    page,
    pages,
    assets,
    since,
    done: doneText(pages, request),
    standingOf: (visit) => standings.of(visit, parts),
  };
  const visit = new PageVisit(parts);
  if (form === null) return pageOrFile(framed, visit);
  const name = form.get('act') ?? '';
  const act = Object.hasOwn(page.acts ?? {}, name) ? page.acts?.[name] : undefined;
  const formKey = form.get('form_key') ?? '';
  if (act === undefined || !FORM_KEY.test(formKey)) return foreignFormPage();
  const draft = act.redraw?.(form, visit) ?? null;
  if (draft !== null) {
    const drawn = new PageVisit({ ...parts, draft: { act: name, form: draft } });
    return pageAnswer({ ...framed, done: null }, drawn, await viewOf(page, drawn));
  }
  const read = await performAct(visit, act, form, `console:${formKey}`);
  standings.forget(parts);
  if (read.problem === null) return afterwards(framed, visit, act, form, read);
  const { problem: refused, requestId, text: envelope } = read;
  const again = new PageVisit({ ...parts, refused: { act: name, problem: refused, requestId, envelope, form } });
  const view = await viewOf(page, again);
  return pageAnswer({ ...framed, done: null }, again, { ...view, status: refused.httpStatus });
}

interface FramedPage extends Omit<Framed, 'visit' | 'view' | 'standing'> {
  /** What stands around the page, once it is made. */
  standingOf(visit: PageVisit): Promise<Standing>;
}

async function pageAnswer({ standingOf, ...framed }: FramedPage, visit: PageVisit, view: View): Promise<RawAnswer> {
  return consoleAnswer({ ...framed, visit, view, standing: await standingOf(visit) });
}

async function pageOrFile(framed: FramedPage, visit: PageVisit): Promise<RawAnswer> {
  const { page } = framed;
  const as = visit.query.get('as');
  if ((as !== 'csv' && as !== 'jsonl') || page[as] === undefined || !visit.may(page.needs))
    return pageAnswer(framed, visit, await viewOf(page, visit));
  return {
    status: 200,
    headers: {
      'content-type': fileTypes[as],
      'cache-control': 'no-store',
      'content-disposition': `attachment; filename="${page.name}.${as}"`,
    },
    body: await page[as](visit),
  };
}

function afterwards(
  framed: FramedPage,
  visit: PageVisit,
  act: Act,
  form: URLSearchParams,
  { data, text }: Extract<Read<unknown>, { problem: null }>,
): RawAnswer | Promise<RawAnswer> {
  if (act.answerView !== undefined)
    return pageAnswer({ ...framed, done: null }, visit, act.answerView(data, visit, form, text));
  const next = act.next === undefined ? visit.elsewhere(visit.url) : visit.path(act.next(data, visit));
  const address = new URL(next, 'http://own.invalid');
  // The page of a new thing is left with it.
  address.searchParams.delete(NEW);
  address.searchParams.set('done', `${framed.page.name}.${form.get('act')}`);
  return redirect(`${address.pathname}${address.search}`);
}

/** What the form did that led to this address: its page and act stand in it, and the text comes from there. */
function doneText(offered: readonly ConsolePage[], { query }: RawHead): string | null {
  const [name, act = ''] = query.get('done')?.split('.') ?? [];
  const acts = offered.find((page) => page.name === name)?.acts;
  return acts !== undefined && Object.hasOwn(acts, act) ? (acts[act]?.done ?? null) : null;
}

async function viewOf(page: ConsolePage, visit: PageVisit): Promise<View> {
  const { needs } = page;
  try {
    if (!visit.may(needs)) throw missingScope(visit, needs);
    return await page.show(visit);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return failureView(visit, error, page);
  }
}

function missingScope(visit: PageVisit, { id }: ConsolePage['needs']): Problem {
  const { scope } = visit.capability(id);
  const module = moduleOf(id);
  return problem('INSUFFICIENT_SCOPE', {
    message: `You are signed in without the scope ${module}:${scope}, which this page needs.`,
    detail: `${module}:${scope}`,
  });
}

/** One page for what is another account's and what never was; else what went wrong. */
function failureView(visit: PageVisit, found: Problem, { path }: ConsolePage): View {
  const isUnknown = found.httpStatus === 404 || ['VALIDATION_FAILED', 'INVALID_CURSOR'].includes(found.code);
  if (isUnknown)
    return {
      status: 404,
      title: 'Not found',
      content: html`<h1>There is no such page</h1><p>The account that you are signed in to has nothing at this address.</p>
<p><a href="${visit.path(path.split('/', 2).join('/'))}">Back</a></p>`,
    };
  return {
    status: found.httpStatus,
    title: 'This page cannot be shown',
    content: html`<h1>This page cannot be shown</h1>${failure(visit, found, visit.requestId)}`,
  };
}

async function follow(core: Services, ticks: LiveTicks, request: RawRequest): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request, { isUse: false });
  if (visitor === null || visitor.principal === null)
    throw problem('UNAUTHORIZED', { message: 'Nobody is signed in.' });
  const { sessionId, accountId } = visitor.session;
  const stream = ticks.follow({ sessionId, accountId, since: request.query.get('since') ?? '' }, request.signal);
  if (stream === null)
    throw problem('CONCURRENCY_LIMITED', {
      message: 'Too many live pages are open; this one refreshes every 10 s.',
      retryAfterMs: 10_000,
    });
  return {
    status: 200,
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    },
    body: stream,
  };
}

async function setPreferences(core: Services, request: RawRequest): Promise<RawAnswer> {
  const visitor = await visitorOf(core, request);
  const form = readForm(request.headers, request.body);
  if (visitor === null || !isFormOf(core, request, form, visitor)) return foreignFormPage();
  const back = localPath(form.get('return_to')) ?? pathTo(core, ROOT);
  return redirect(back, { 'set-cookie': preferencesCookie(form) });
}

function withHeaders(answer: RawAnswer, headers: RawAnswer['headers']): RawAnswer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

function noSuchPage(core: Services): RawAnswer {
  const console = html`<a href="${pathTo(core, ROOT)}">Console</a>`;
  return message(404, 'There is no such page', html`<p>Look at its address, or begin at the ${console}.</p>`);
}

function refusal(found: Problem, { requestId }: RawHead): RawAnswer {
  const text = html`<div class="failure" role="alert"><p>${found.message} ${found.entry.advice}</p>
<p><code>${found.code}</code> · request <code>${requestId}</code></p></div>`;
  return message(found.httpStatus, 'This page cannot be shown', text, { headers: retryAfter(found) });
}
