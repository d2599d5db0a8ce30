// One video: how far it is, the video itself, what it cost, and the way to stop or delete it.

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
import { status as videoStatus } from '../capabilities/status.ts';
import { type Job, modelOf, nameOf } from './video.ts';

export const jobPage: ConsolePage = {
  name: 'video_job',
  path: '/video/{id}',
  needs: get,
  isLive: true,
  show,
  acts: {
    cancel: {
      capability: cancel,
      input: (_, { params }) => ({ job_id: params.id }),
      done: 'Video cancelled.',
    },
  },
};

export const jobDeletePage = jobDeletionPage({
  name: 'video_delete',
  listPath: '/video',
  remove,
  what: 'the video',
  title: 'Delete a video',
  done: 'Video deleted.',
  async describe(visit, id) {
    const job = await visit.need(get, { job_id: id });
    return html`${nameOf(job, 200)}: ${job.size_bytes === null ? 'no video' : sizeText(job.size_bytes)}. The video, its thumbnail and its record are deleted.`;
  },
});

async function show(visit: Visit): Promise<View> {
  const { id } = visit.params;
  const job = await visit.need(get, { job_id: id });
  const isRunning = job.finished_at === null;
  const status = isRunning ? await visit.call(videoStatus, { job_id: id }) : null;
  const content = html`<p><a href="${visit.path('/video')}">Videos</a></p>
<div class="head"><div class="head named"><h1>${nameOf(job)}</h1><p>${jobState(job)}</p></div>${isRunning && visit.may(cancel) ? actForm(visit, 'cancel', html`<button class="danger">Cancel</button>`) : ''}</div>
${status === null ? video(job) : contentOrFailure(visit, status, jobProgress)}
${jobFailure(job.error)}
${ownFacts(visit, job)}
${job.prompt.length <= 80 ? '' : html`<h2>Prompt</h2>${payload(job.prompt, 'Prompt', { call: 'video.get' })}`}
${dangerZone([!isRunning && visit.may(remove) ? { title: 'Delete this video', text: 'The video, its thumbnail and its record are deleted.', act: dangerLink(visit.path(`/video/${job.job_id}/delete`), 'Delete…') } : null])}`;
  return { title: job.prompt.slice(0, 80).toWellFormed() || 'A video', content };
}

function video({ video_url: url, thumbnail_url: picture, job_id: id }: Job): Html {
  if (url === null) return html`<p class="quiet">No video: none was generated, or it has expired.</p>`;
  const poster = picture === null ? '' : html` poster="${ownPath(picture)}"`;
  return html`<video id="${id}" controls preload="none" src="${ownPath(url)}"${poster}></video>
<p><a href="${ownPath(url)}" download="${id}">Download</a></p>`;
}

function ownFacts(visit: Visit, job: Job): Html {
  return facts([
    ['ID', copiedId(job.job_id)],
    ['Operation', job.operation],
    ['Model', short(modelOf(job), 100)],
    ['Duration', `${job.duration_seconds} s`],
    ['Resolution', job.resolution],
    ['Aspect ratio', job.aspect_ratio],
    ['Size', job.size_bytes === null ? null : sizeText(job.size_bytes)],
    ...jobFacts(visit, job),
  ]);
}
