// One image job: how far it is, its images, what they cost, and the way to stop or delete it.
import { copiedId } from '../../../kit/console/copied.ts';
import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { contentOrFailure } from '../../../kit/console/failure.ts';
import { actForm } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, meter } from '../../../kit/console/table.ts';
import { ago, money, ownPath, payload, short, sizeText } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { cancel } from '../capabilities/cancel.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { status as imageStatus } from '../capabilities/status.ts';
import { type Job, jobState, nameOf } from './images.ts';

export const jobPage: ConsolePage = {
  name: 'image_job',
  path: '/images/{id}',
  needs: get,
  isLive: true,
  show,
  acts: {
    cancel: { capability: cancel, input: (_, { params }) => ({ id: params.id }), done: 'Image cancelled.' },
  },
};

export const jobDeletePage: ConsolePage = {
  name: 'image_delete',
  path: '/images/{id}/delete',
  needs: remove,
  show: showDelete,
  acts: {
    delete: {
      capability: remove,
      input(form, { params: { id = '' } }) {
        requireTyped(form, id, 'delete the image');
        return { id };
      },
      done: 'Image deleted.',
      next: () => '/images',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const { id } = visit.params;
  const job = await visit.need(get, { id });
  const isRunning = job.finished_at === null;
  const { error, prompt } = job;
  const zone = {
    ...{ title: 'Delete this job', text: 'Its images, its prompt and its record are deleted.' },
    act: dangerLink(visit.path(`/images/${job.job_id}/delete`), 'Delete…'),
  };
  const content = html`<p><a href="${visit.path('/images')}">Images</a></p>
<div class="head"><div class="head named"><h1>${nameOf(job)}</h1><p>${jobState(job)}</p></div>${isRunning && visit.may(cancel) ? actForm(visit, 'cancel', html`<button class="danger">Cancel</button>`) : ''}</div>
${isRunning ? await progress(visit, job) : images(job)}
${error === null ? '' : html`<p class="failure">${short(error.message ?? 'The job failed.', 500)} ${error.code === undefined ? '' : html`<code>${short(error.code, 80)}</code>`}</p>`}
${jobFacts(visit, job)}
${prompt.length <= 80 ? '' : html`<h2>Prompt</h2>${payload(prompt, 'Prompt', { call: 'image.get' })}`}
${dangerZone([!isRunning && visit.may(remove) ? zone : null])}`;
  return { title: prompt.slice(0, 80).toWellFormed() || 'An image', content };
}

function images({ images: made }: Job): Html {
  if (made.length === 0) return html`<p class="quiet">No images: none were generated, or they have expired.</p>`;
  return html`<div class="gallery">${made.map(({ url, width, height, size_bytes: bytes, content_type: type }, i) =>
    url === null
      ? ''
      : html`<figure><img class="made" src="${ownPath(url)}" width="${width}" height="${height}" alt="Image ${i + 1}">
<figcaption>${width} × ${height} px, ${sizeText(bytes)} <a href="${ownPath(url)}" download="image-${i + 1}.${type.replace('image/', '')}">Download</a></figcaption></figure>`,
  )}</div>`;
}

async function progress(visit: Visit, { job_id: id }: Job): Promise<Html> {
  const status = await visit.call(imageStatus, { id });
  return contentOrFailure(visit, status, ({ progress_pct: percent, current_step: step }) => {
    const part = Math.min(100, Math.max(0, percent ?? 0));
    return html`<p>${step === null ? 'Generating' : short(step, 100)}${percent === null ? '' : html`, ${part} %`}.</p>
${meter(part)}`;
  });
}

function jobFacts(visit: Visit, job: Job): Html {
  return facts([
    ['ID', copiedId(job.job_id)],
    ['Model', short(job.model, 100)],
    ['Size', `${job.size.replace('x', ' × ')} px`],
    ['Images', String(job.n)],
    ['Cost', job.cost_usd === null ? null : money(job.cost_usd)],
    ['Created', ago(visit, job.created_at)],
    ['Finished', job.finished_at === null ? null : ago(visit, job.finished_at)],
    ['Expires', job.expires_at === null ? null : ago(visit, job.expires_at)],
    ['Warnings', job.warnings.length === 0 ? null : short(job.warnings.join(' '), 500)],
  ]);
}

async function showDelete(visit: Visit): Promise<View> {
  const { id = '' } = visit.params;
  const job = await visit.need(get, { id });
  const content = html`<p><a href="${visit.path(`/images/${id}`)}">Back</a></p>
<h1>Delete an image job</h1>
<p>${nameOf(job, 200)}: ${job.images.length === 1 ? 'one image' : `${job.images.length} images`}. The images, the prompt and the record are deleted. It cannot be undone. What it cost stays in the ledger.</p>
${typedForm(visit, 'delete', { wanted: id, button: 'Delete' })}`;
  return { title: 'Delete an image job', content };
}
