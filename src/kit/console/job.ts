// Pages of jobs of any module: state, progress, reason of failure, and the page that asks before a job is deleted.
import { type Html, html } from '../../lib/html.ts';
import type { ConsolePage } from './page.ts';
import { badge, meter, tabs, withQuery } from './table.ts';
import { ago, durationText, money, short } from './text.ts';
import { typedPage } from './typed.ts';
import type { Visit } from './visit.ts';

const states = ['running', 'succeeded', 'failed'] as const;

export function jobState({ state }: { readonly state: string }): Html {
  const kind =
    state === 'succeeded' ? 'good' : state === 'failed' ? 'critical' : state === 'running' ? 'warning' : 'plain';
  return badge(state, kind);
}

/** The state that the page is asked for; undefined: all. */
export function askedState(visit: Visit): (typeof states)[number] | undefined {
  const asked = visit.query.get('state');
  return states.find((each) => each === asked);
}

export function stateTabs(visit: Visit): Html {
  const here = askedState(visit) ?? null;
  const entry = (text: string, of: string | null) => ({
    text,
    href: withQuery(visit, { state: of, cursor: null }),
    isHere: of === here,
  });
  const named = states.map((each) => entry(`${each[0]?.toUpperCase()}${each.slice(1)}`, each));
  return tabs('State', [entry('All', null), ...named]);
}

interface Progress {
  readonly progress_pct?: number | null;
  readonly current_step: string | null;
  readonly eta_seconds?: number | null;
}

export function jobProgress({
  progress_pct: percent = null,
  current_step: step,
  eta_seconds: seconds = null,
}: Progress) {
  const part = Math.min(100, Math.max(0, percent ?? 0));
  return html`<p>${step === null ? 'Generating' : short(step, 100)}${percent === null ? '' : html`, ${part} %`}${seconds === null ? '' : html`, about ${durationText(seconds)} left`}.</p>
${meter(part)}`;
}

export function jobFailure(error: { readonly message?: string; readonly code?: string } | null): Html | '' {
  if (error === null) return '';
  const { message = 'The job failed.', code } = error;
  return html`<p class="failure">${short(message, 500)} ${code === undefined ? '' : html`<code>${short(code, 80)}</code>`}</p>`;
}

interface EndedJob {
  readonly cost_usd: number | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly expires_at: string | null;
  readonly warnings: readonly string[];
}

/** What all jobs say of themselves, beneath what only some do. */
export function jobFacts(visit: Visit, job: EndedJob): (readonly [string, Html | string | null])[] {
  return [
    ['Cost', job.cost_usd === null ? null : money(job.cost_usd)],
    ['Created', ago(visit, job.created_at)],
    ['Finished', job.finished_at === null ? null : ago(visit, job.finished_at)],
    ['Expires', job.expires_at === null ? null : ago(visit, job.expires_at)],
    ['Warnings', job.warnings.length === 0 ? null : short(job.warnings.join(' '), 500)],
  ];
}

interface DeletionTexts {
  readonly name: string;
  /** Of the page that lists them: `/video`. */
  readonly listPath: string;
  readonly remove: ConsolePage['needs'];
  /** `the video`. */
  readonly what: string;
  readonly title: string;
  readonly done: string;
  /** What is deleted of the job with this id. */
  describe(visit: Visit, id: string): Promise<Html>;
}

export function jobDeletionPage({ listPath, remove, what, describe, ...of }: DeletionTexts): ConsolePage {
  return typedPage({
    ...of,
    path: `${listPath}/{id}/delete`,
    capability: remove,
    act: 'delete',
    what: `delete ${what}`,
    button: 'Delete',
    next: () => listPath,
    async about(visit) {
      const { id = '' } = visit.params;
      const text = html`${await describe(visit, id)} It cannot be undone. What it cost stays in the ledger.`;
      return { back: { label: 'Back', path: `${listPath}/${id}` }, text };
    },
  });
}
