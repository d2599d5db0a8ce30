// One video: how far it is, the video itself, what it cost, and the way to stop or delete it.

import { copiedId } from '../../../kit/console/copied.ts';
import { dangerLink, dangerZone } from '../../../kit/console/danger-zone.ts';
import { contentOrFailure } from '../../../kit/console/failure.ts';
import { actForm } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, meter } from '../../../kit/console/table.ts';
import { ago, durationText, money, ownPath, payload, short, sizeText } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { DataOf, Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { cancel } from '../capabilities/cancel.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { status as videoStatus } from '../capabilities/status.ts';
import { type Job, jobState, modelOf, nameOf } from './video.ts';

type Status = DataOf<typeof videoStatus>;

export const jobPage: ConsolePage = {
  name: 'video_job',
  path: '/video/{id}',
  needs: get,
  isLive: true,
  show,
  acts: {
    cancel: {
      capability: cancel,
      input: (_, { params }) => ({ id: params.id }),
      done: 'Video cancelled.',
    },
  },
};

export const jobDeletePage: ConsolePage = {
  name: 'video_delete',
  path: '/video/{id}/delete',
  needs: remove,
  show: showDelete,
  acts: {
    delete: {
      capability: remove,
      input(form, { params: { id = '' } }) {
        requireTyped(form, id, 'delete the video');
        return { id };
      },
      done: 'Video deleted.',
      next: () => '/video',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const { id } = visit.params;
  const job = await visit.need(get, { id });
  const isRunning = job.finished_at === null;
  const status = isRunning ? await visit.call(videoStatus, { id }) : null;
  const content = html`<p><a href="${visit.path('/video')}">Videos</a></p>
<div class="head"><div class="head named"><h1>${nameOf(job)}</h1><p>${jobState(job)}</p></div>${isRunning && visit.may(cancel) ? actForm(visit, 'cancel', html`<button class="danger">Cancel</button>`) : ''}</div>
${status === null ? video(job) : progress(visit, status)}
${job.error === null ? '' : html`<p class="failure">${short(job.error.message ?? 'The job failed.', 500)} ${job.error.code === undefined ? '' : html`<code>${short(job.error.code, 80)}</code>`}</p>`}
${jobFacts(visit, job)}
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

function progress(visit: Visit, status: Read<Status>): Html {
  return contentOrFailure(visit, status, ({ progress_pct: percent, eta_seconds: seconds, current_step: step }) => {
    const part = Math.min(100, Math.max(0, percent ?? 0));
    return html`<p>${step === null ? 'Generating' : short(step, 100)}${percent === null ? '' : html`, ${part} %`}${seconds === null ? '' : html`, about ${durationText(seconds)} left`}.</p>
${meter(part)}`;
  });
}

function jobFacts(visit: Visit, job: Job): Html {
  return facts([
    ['ID', copiedId(job.job_id)],
    ['Operation', job.operation],
    ['Model', short(modelOf(job), 100)],
    ['Duration', `${job.duration_seconds} s`],
    ['Resolution', job.resolution],
    ['Aspect ratio', job.aspect_ratio],
    ['Size', job.size_bytes === null ? null : sizeText(job.size_bytes)],
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
  const content = html`<p><a href="${visit.path(`/video/${id}`)}">Back</a></p>
<h1>Delete a video</h1>
<p>${nameOf(job, 200)}: ${job.size_bytes === null ? 'no video' : sizeText(job.size_bytes)}. The video, its thumbnail and its record are deleted. It cannot be undone. What it cost stays in the ledger.</p>
${typedForm(visit, 'delete', { wanted: id, button: 'Delete' })}`;
  return { title: 'Delete a video', content };
}
