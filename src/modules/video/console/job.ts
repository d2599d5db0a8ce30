// One video: how far it is, the video itself, what it cost, and the way to stop or delete it.

import { copiedId } from '../../../kit/console/copied.ts';
import { shown } from '../../../kit/console/failure.ts';
import { actForm } from '../../../kit/console/form.ts';
import type { ConsolePage, View } from '../../../kit/console/page.ts';
import { facts, meter } from '../../../kit/console/table.ts';
import { durationText, money, payload, short, sizeText, time } from '../../../kit/console/text.ts';
import { requireTyped, typedForm } from '../../../kit/console/typed.ts';
import type { DataOf, Read, Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { cancel } from '../capabilities/cancel.ts';
import { remove } from '../capabilities/delete.ts';
import { get } from '../capabilities/get.ts';
import { status as videoStatus } from '../capabilities/status.ts';
import { type Job, jobState, modelOf, nameOf, ownPath } from './video.ts';

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
      done: 'It is cancelled.',
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
      done: 'The video was deleted.',
      next: () => '/video',
    },
  },
};

async function show(visit: Visit): Promise<View> {
  const { id } = visit.params;
  const job = await visit.need(get, { id });
  const isRunning = job.finished_at === null;
  const status = isRunning ? await visit.call(videoStatus, { id }) : null;
  const content = html`<p><a href="${visit.path('/video')}">All videos</a></p>
<h1>${nameOf(job)}</h1>
${status === null ? video(job) : progress(visit, status)}
${job.error === null ? '' : html`<p class="failure">${short(job.error.message ?? 'It failed.', 500)} ${job.error.code === undefined ? '' : html`<code>${short(job.error.code, 80)}</code>`}</p>`}
${told(visit, job)}
${job.prompt.length <= 80 ? '' : html`<h2>Prompt</h2>${payload(job.prompt, 'Prompt', { call: 'video.get' })}`}
${isRunning && visit.may(cancel) ? actForm(visit, 'cancel', html`<button class="danger">Cancel</button>`) : ''}
${!isRunning && visit.may(remove) ? html`<p><a href="${visit.path(`/video/${job.job_id}/delete`)}">Delete the video…</a></p>` : ''}`;
  return { title: job.prompt.slice(0, 80).toWellFormed() || 'A video', content };
}

function video({ video_url: url, thumbnail_url: picture, job_id: id }: Job): Html {
  if (url === null) return html`<p class="quiet">There is no video to be seen: none was made, or its time is over.</p>`;
  const poster = picture === null ? '' : html` poster="${ownPath(picture)}"`;
  return html`<video id="${id}" controls preload="none" src="${ownPath(url)}"${poster}></video>
<p><a href="${ownPath(url)}" download="${id}">Download</a></p>`;
}

function progress(visit: Visit, status: Read<Status>): Html {
  return shown(visit, status, ({ progress_pct: percent, eta_seconds: seconds, current_step: step }) => {
    const part = Math.min(100, Math.max(0, percent ?? 0));
    return html`<p>${step === null ? 'It is being made' : short(step, 100)}${percent === null ? '' : html`, ${part} %`}${seconds === null ? '' : html`, some ${durationText(seconds)} are left`}.</p>
${meter(part)}`;
  });
}

function told(visit: Visit, job: Job): Html {
  return facts([
    ['State', jobState(job)],
    ['ID', copiedId(job.job_id)],
    ['Kind', job.operation],
    ['Made by', short(modelOf(job), 100)],
    ['Length', `${job.duration_seconds} s, ${job.resolution}, ${job.aspect_ratio}`],
    ['Size', job.size_bytes === null ? null : sizeText(job.size_bytes)],
    ['Cost', job.cost_usd === null ? null : money(job.cost_usd)],
    ['Ordered', time(visit, job.created_at)],
    ['Ended', job.finished_at === null ? null : time(visit, job.finished_at)],
    ['Kept until', job.expires_at === null ? null : time(visit, job.expires_at)],
    ['To know', job.warnings.length === 0 ? null : short(job.warnings.join(' '), 500)],
  ]);
}

async function showDelete(visit: Visit): Promise<View> {
  const { id = '' } = visit.params;
  const job = await visit.need(get, { id });
  const content = html`<p><a href="${visit.path(`/video/${id}`)}">Back</a></p>
<h1>Delete a video</h1>
<p>${nameOf(job, 200)}: ${job.size_bytes === null ? 'no video' : sizeText(job.size_bytes)}, its picture and its record are gone for good. What it cost stays in the ledger.</p>
${typedForm(visit, 'delete', { wanted: id, button: 'Delete' })}`;
  return { title: 'Delete a video', content };
}
