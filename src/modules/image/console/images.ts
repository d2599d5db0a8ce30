// Images: the jobs with their pictures, what each cost, and forms for a new one and for one that is transformed.
import { panel } from '../../../kit/console/failure.ts';
import { choice, field, numberOf, textOf } from '../../../kit/console/form.ts';
import { askedState, jobState, stateTabs } from '../../../kit/console/job.ts';
import { asksForNew, type NewForm, newAction, newView, titleWithNew } from '../../../kit/console/new.ts';
import { actOf, type ConsolePage, type View } from '../../../kit/console/page.ts';
import { more, type Page, table, teach } from '../../../kit/console/table.ts';
import { ago, ownPath, short } from '../../../kit/console/text.ts';
import type { DataOf, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { generate as imageGenerate } from '../capabilities/generate.ts';
import type { get } from '../capabilities/get.ts';
import { list as imageList } from '../capabilities/list.ts';
import { transform as imageTransform } from '../capabilities/transform.ts';

export type Job = DataOf<typeof get>;

const ROWS = 20;
const SIZES = ['256x256', '512x512', '1024x1024', '1536x1024', '1024x1536'];

const newImage: NewForm = {
  act: 'generate',
  heading: 'New image',
  capability: imageGenerate,
  form: orderForm,
};

export const imagesPage: ConsolePage = {
  name: 'images',
  path: '/images',
  needs: imageList,
  nav: { label: 'Images', key: 'i', group: 'make' },
  isLive: true,
  show,
  actions: [newAction('/images', newImage)],
  acts: {
    generate: actOf({
      capability: imageGenerate,
      input: (form) => ({
        prompt: textOf(form, 'prompt'),
        size: textOf(form, 'size'),
        n: numberOf(form, 'n'),
        model: textOf(form, 'model') ?? null,
      }),
      done: 'Image started.',
      next: (data) => `/images/${data.job_id}`,
    }),
  },
};

/** An image by its prompt, which is kept no longer than the image. */
export function nameOf({ prompt }: Pick<Job, 'prompt'>, charactersMax = 80): Html {
  return prompt === '' ? html`Expired image` : short(prompt, charactersMax);
}

async function show(visit: Visit): Promise<View> {
  if (asksForNew(visit, newImage)) return newView(visit, newImage);
  const cursor = visit.query.get('cursor') ?? undefined;
  const list = await visit.call(imageList, { state: askedState(visit), cursor, limit: ROWS });
  const content = html`${titleWithNew(visit, 'Images', newImage)}
${visit.may(imageTransform) ? html`<p><a href="${visit.path('/images/transform')}">Transform an image</a> by its URL: resize, convert.</p>` : ''}
${stateTabs(visit)}
${panel(visit, 'Images', list, (page) => html`${images(visit, page)}${more(visit, page)}`)}
`;
  return { title: 'Images', content };
}

function images(visit: Visit, { items }: Page<Job>): Html {
  return table({
    caption: 'Images',
    rows: items,
    empty: teach(
      'No images yet. The sandbox draws a card of any prompt:',
      `curl -sS ${visit.baseUrl}/v1/image/generate -H "Authorization: Bearer $QM_KEY" -H 'Content-Type: application/json' -d '{"prompt":"A paper boat.","model":"sandbox/card-1"}'`,
    ),
    columns: [
      {
        title: 'Image',
        cell: ({ job_id: id, prompt, images: [first] }) =>
          html`<a class="video" id="${id}" href="${visit.path(`/images/${id}`)}">${first?.url == null ? '' : html`<img class="picture" src="${ownPath(first.url)}" alt="" loading="lazy">`}${nameOf({ prompt }, 120)}</a>`,
      },
      { title: 'Status', cell: (job) => jobState(job) },
      { title: 'Model', cell: ({ model }) => short(model, 60) },
      { title: 'Created', cell: ({ created_at }) => ago(visit, created_at) },
      { title: 'Images', kind: 'number', cell: ({ n }) => String(n) },
      { title: 'Cost', usd: ({ cost_usd: cost }) => cost },
    ],
  });
}

function orderForm(visit: Visit, act: string): Html {
  const sizes = SIZES.map((size) => [size, size.replace('x', ' × ')] as const);
  return html`${field(visit, act, { name: 'prompt', label: 'Prompt', rows: 3, isRequired: true })}
<div class="pair">${choice(visit, act, { name: 'size', label: 'Size (px)', value: '1024x1024', options: sizes })}
${field(visit, act, { name: 'n', label: 'Images', value: '1', attributes: html`inputmode="numeric"` })}
${field(visit, act, { name: 'model', label: 'Model', value: 'auto', attributes: html`spellcheck="false"` })}</div>
<button class="main">Generate image</button>`;
}
