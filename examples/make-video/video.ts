// Makes a video of three shots, watches it grow, extends it, and saves both: node video.ts [folder]
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from '../quartermaster.ts';

interface Job {
  readonly job_id: string;
  readonly state: string;
  readonly cost_usd: number | null;
  readonly video_url: string | null;
  readonly error: { readonly message: string } | null;
}

const folder = process.argv[2] ?? '.';

const first: Job = await call('video/generate', {
  prompt: 'A paper boat on a pond. Rain begins to fall. The boat sails under a leaf.',
  duration_seconds: 6,
  // The same key makes no second video when this is run again.
  idempotency_key: `boat-${Date.now()}`,
});
await save(await finished(first), 'boat.mp4');

const longer: Job = await call(`video/extend/${first.job_id}`, { prompt: 'The sun comes out.', duration_seconds: 3 });
await save(await finished(longer), 'boat-longer.mp4');

/** The job once it has ended. Throws when it made no video. */
async function finished({ job_id: id }: Job): Promise<Job> {
  for (;;) {
    const { state, progress_pct: percent } = await call(`video/status/${id}`);
    if (state === 'queued' || state === 'running') {
      console.log(`${id}: ${state}, ${percent ?? 0} %`);
      await sleep(500);
      continue;
    }
    const job: Job = await call(`video/get/${id}`);
    if (job.video_url === null) throw new Error(`${id} is ${state}: ${job.error?.message ?? 'there is no video'}`);
    return job;
  }
}

async function save({ video_url: url, cost_usd: cost }: Job, name: string): Promise<void> {
  const response = await fetch(url as string);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  await writeFile(join(folder, name), new Uint8Array(await response.arrayBuffer()));
  console.log(`${name}: ${cost} USD`);
}
