// Image jobs of the sandbox: all cards of a job are drawn in one step (src/jobs/due/sandbox.ts).
import { rm } from 'node:fs/promises';
import type { JobLoop } from '../../../core/background/job-loop.ts';
import { jobSandbox, madeEnd, RENDERING, type SandboxMade } from '../../../jobs/due/sandbox.ts';
import type { Step } from '../../../jobs/due/step.ts';
import type { JobHost } from '../../../jobs/kind.ts';
import { ordersIn } from '../../../jobs/orders.ts';
import type { JobRow } from '../../../jobs/row.ts';
import { type StoredImage, sidesOf, wantedOf } from '../jobs/row.ts';
import { SANDBOX_PLACES } from '../limits.ts';
import { drawCard } from '../vendors/sandbox/cards.ts';
import { keepImage } from './keep-image.ts';

export function sandboxLoop(host: JobHost): JobLoop {
  return jobSandbox(host, SANDBOX_PLACES, {
    orders: async (job) => ordersIn([wantedOf(job).prompt]),
    make: (step, job, signal) => make(host, step, job, signal),
  });
}

async function make({ core, kind }: JobHost, step: Step, job: JobRow, signal: AbortSignal): Promise<SandboxMade> {
  const { assets } = core;
  const { prompt, size, n, seed, image: sent } = wantedOf(job);
  const sides = sidesOf(size);
  const doing = { what: RENDERING, pct: 0 as number | null };
  step.doing = doing;
  const image = sent === null ? null : await assets.read(sent.asset);
  const images: StoredImage[] = [];
  for (let i = 0; i < n; i += 1) {
    const path = await assets.workPath();
    try {
      await drawCard({ prompt, seed, image, path, ...sides }, i, signal);
      const about = { contentType: 'image/png', ...sides };
      images.push(await keepImage(assets, `${job.account_id}/${job.job_id}.${job.attempt}.${i}`, path, about));
    } finally {
      await rm(path, { force: true });
    }
    doing.pct = (100 * (i + 1)) / n;
  }
  const bytes = images.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const end = madeEnd({ core, kind }, job, JSON.stringify({ images }), bytes);
  return { end, assets: images.map(({ asset }) => asset) };
}
