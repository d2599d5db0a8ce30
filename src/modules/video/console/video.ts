// Videos: the jobs with their pictures, what each cost, and a new one, whose price is told before it is asked for.

import { panel } from '../../../kit/console/failure.ts';
import { actForm, choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { askedState, jobState, stateTabs } from '../../../kit/console/job.ts';
import { asksForNew, type NewForm, newAction, newView, titleWithNew } from '../../../kit/console/new.ts';
import { type Act, actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { badge, more, type Page, table, teach } from '../../../kit/console/table.ts';
import { ago, money, ownPath, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { generate as videoGenerate } from '../capabilities/generate.ts';
import type { get } from '../capabilities/get.ts';
import { list as videoList } from '../capabilities/list.ts';
import { quote as videoQuote } from '../capabilities/quote.ts';

export type Job = DataOf<typeof get>;

type Quote = DataOf<typeof videoQuote>;

const ROWS = 20;
const FIELDS = ['prompt', 'duration_seconds', 'resolution', 'aspect_ratio', 'model'] as const;

const wish = (form: URLSearchParams) => ({
  prompt: textOf(form, 'prompt'),
  duration_seconds: numberOf(form, 'duration_seconds'),
  resolution: textOf(form, 'resolution'),
  aspect_ratio: textOf(form, 'aspect_ratio'),
  model: textOf(form, 'model') ?? null,
});

const quote: Act<typeof videoQuote> = {
  capability: videoQuote,
  input: wish,
  done: 'Price quoted.',
  answerView(data, visit, form) {
    visit.tell(videoQuote, wish(form));
    return { title: 'Price of the video', content: quoteView(visit, data, form) };
  },
};

const newVideo: NewForm = {
  act: 'quote',
  heading: 'New video',
  capability: videoGenerate,
  form: orderForm,
};

export const videoPage: ConsolePage = {
  name: 'video',
  path: '/video',
  needs: videoList,
  nav: { label: 'Video', key: 'd', group: 'make' },
  isLive: true,
  show,
  actions: [newAction('/video', newVideo)],
  acts: {
    quote,
    generate: actOf({
      capability: videoGenerate,
      input: wish,
      done: 'Video started.',
      next: (data) => `/video/${data.job_id}`,
    }),
  },
};

export function modelOf({ vendor, model }: Pick<Job, 'vendor' | 'model'>): string {
  return model.includes('/') ? model : `${vendor}/${model}`;
}

/** A video by its prompt, which is kept no longer than the video. */
export function nameOf({ prompt }: Pick<Job, 'prompt'>, charactersMax = 80): Html {
  return prompt === '' ? html`Expired video` : short(prompt, charactersMax);
}

async function show(visit: Visit): Promise<View> {
  if (asksForNew(visit, newVideo)) return newView(visit, newVideo);
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(videoList, { state: askedState(visit), cursor, limit: ROWS });
  const content = html`${titleWithNew(visit, 'Video', newVideo)}
${stateTabs(visit)}
${panel(visit, 'Videos', list, (page) => html`${videos(visit, page)}${more(visit, page)}`)}
`;
  return { title: 'Video', content };
}

function videos(visit: Visit, { items }: Page<Job>): Html {
  return table({
    caption: 'Videos',
    rows: items,
    empty: teach(
      'No videos yet. The sandbox makes a storyboard of any prompt:',
      `curl -sS ${visit.baseUrl}/v1/video/generate -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '{"prompt":"A paper boat.","model":"sandbox/storyboard-1","duration_seconds":1}'`,
    ),
    columns: [
      {
        title: 'Video',
        cell: ({ job_id: id, prompt, thumbnail_url: picture }) =>
          html`<a class="video" id="${id}" href="${visit.path(`/video/${id}`)}">${picture === null ? '' : html`<img class="picture" src="${ownPath(picture)}" alt="" loading="lazy">`}${nameOf({ prompt }, 120)}</a>`,
      },
      { title: 'Status', cell: (job) => jobState(job) },
      { title: 'Model', cell: (job) => short(modelOf(job), 60) },
      { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
      { title: 'Duration', kind: 'number', cell: ({ duration_seconds: seconds }) => `${seconds} s` },
      { title: 'Cost', usd: ({ cost_usd: cost }) => cost },
    ],
  });
}

function orderForm(visit: Visit, act: string): Html {
  const same = (words: readonly string[]) => words.map((word) => [word, word] as const);
  return html`${field(visit, act, { name: 'prompt', label: 'Prompt', rows: 3, isRequired: true })}
<div class="pair">${field(visit, act, { name: 'duration_seconds', label: 'Duration (s)', value: '5', attributes: html`inputmode="numeric"` })}
${field(visit, act, { name: 'model', label: 'Model', value: 'auto', attributes: html`spellcheck="false"` })}
${choice(visit, act, { name: 'resolution', label: 'Resolution', value: '720p', options: same(['720p', '1080p', '4k']) })}
${choice(visit, act, { name: 'aspect_ratio', label: 'Aspect ratio', value: '16:9', options: same(['16:9', '9:16', '1:1', '4:3', '3:4', '21:9']) })}</div>
<button class="main">Get price</button>`;
}

function quoteView(visit: Visit, { chain, max_cost_usd: most }: Quote, form: URLSearchParams): Html {
  const hidden = Object.fromEntries(FIELDS.map((name) => [name, form.get(name) ?? '']));
  return html`<p><a href="${visit.path('/video')}">Videos</a></p>
<h1>Price of the video</h1>
<blockquote dir="auto">${short(hidden.prompt ?? '', 4_000)}</blockquote>
<p>At most ${money(most)} for ${hidden.duration_seconds ?? ''} s in ${hidden.resolution ?? ''}. This amount is held while the video is generated. Then what it cost is charged.</p>
${table({
  caption: 'Models that can generate it',
  rows: chain,
  empty: html`<p>No model can generate it now.</p>`,
  columns: [
    { title: 'Vendor', cell: ({ vendor }) => short(vendor, 60) },
    { title: 'Model', cell: ({ model }) => short(model, 60) },
    { title: 'State', cell: ({ up }) => (up ? badge('up', 'good') : badge('down', 'critical')) },
    { title: 'Price', usd: ({ price_usd }) => price_usd },
  ],
})}
${actForm(visit, 'generate', html`<button class="main">Generate video</button>`, hidden)}`;
}
