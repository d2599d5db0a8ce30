// One image job: how far it is, its images, what they cost, and the way to stop or delete it.
import { copiedId } from '../../../kit/console/copied.ts';
import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { contentOrFailure } from '../../../kit/console/failure.ts';
import { actForm } from '../../../kit/console/form.ts';
import { jobDeletionPage, jobFacts, jobFailure, jobProgress, jobState } from '../../../kit/console/job.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts } from '../../../kit/console/table.ts';
import { ownPath, payload, short, sizeText } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { cancel } from '../capabilities/cancel.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { status as imageStatus } from '../capabilities/status.ts';
import { type Job, nameOf } from './images.ts';

export const jobPage: ConsolePage = {
  name: 'image_job',
  path: '/images/{id}',
  needs: get,
  isLive: true,
  show,
  acts: {
    cancel: { capability: cancel, input: (_, { params }) => ({ job_id: params.id }), done: 'Image cancelled.' },
  },
};

export const jobDeletePage = jobDeletionPage({
  name: 'image_delete',
  listPath: '/images',
  remove,
  what: 'the image',
  title: 'Delete an image job',
  done: 'Image deleted.',
  async describe(visit, id) {
    const job = await visit.need(get, { job_id: id });
    return html`${nameOf(job, 200)}: ${job.images.length === 1 ? 'one image' : `${job.images.length} images`}. The images, the prompt and the record are deleted.`;
  },
});

async function show(visit: Visit): Promise<View> {
  const { id } = visit.params;
  const job = await visit.need(get, { job_id: id });
  const isRunning = job.finished_at === null;
  const { error, prompt } = job;
  const zone = {
    title: 'Delete this job',
    text: 'Its images, its prompt and its record are deleted.',
    act: dangerLink(visit.path(`/images/${job.job_id}/delete`), 'Delete…'),
  };
  const content = html`<p><a href="${visit.path('/images')}">Images</a></p>
<div class="head"><div class="head named"><h1>${nameOf(job)}</h1><p>${jobState(job)}</p></div>${isRunning && visit.may(cancel) ? actForm(visit, 'cancel', html`<button class="danger">Cancel</button>`) : ''}</div>
${isRunning ? contentOrFailure(visit, await visit.call(imageStatus, { job_id: id }), jobProgress) : images(job)}
${jobFailure(error)}
${ownFacts(visit, job)}
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

function ownFacts(visit: Visit, job: Job): Html {
  return facts([
    ['ID', copiedId(job.job_id)],
    ['Model', short(job.model, 100)],
    ['Size', `${job.size.replace('x', ' × ')} px`],
    ['Images', String(job.n)],
    ...jobFacts(visit, job),
  ]);
}
