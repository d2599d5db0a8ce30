// A vendor of videos as a process of its own: takes any job, makes none by itself, and remembers when it was asked for what. Told a number, it
// has made so many of the videos that are not done; told nothing (0), it only reports.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeVideo } from '../../test/video/sample.ts';

export interface VideosSeen {
  readonly jobs: number;
  readonly polls: number;
  /** When they were made, and when the service was first told so; epoch milliseconds. */
  readonly made: readonly { readonly reference: string; readonly atMs: number; readonly toldMs: number | null }[];
}

interface Job {
  readonly reference: string;
  madeMs: number | null;
  toldMs: number | null;
}

const { video } = await makeVideo();
const jobs: Job[] = [];
let polls = 0;

function statusOf({ reference, madeMs }: Job): string {
  const status = madeMs === null ? 'in_progress' : 'completed';
  return JSON.stringify({ id: reference, object: 'video', status, progress: madeMs === null ? 10 : 100, seconds: '1' });
}

const server = createServer((req, res) => {
  req.resume();
  const [, reference, rest] = /\/videos(?:\/video_(\d+))?(\/content)?/.exec(req.url ?? '') ?? [];
  const json = (text: string) => void res.writeHead(200, { 'content-type': 'application/json' }).end(text);
  if (req.method === 'POST') {
    const job = { reference: `video_${jobs.length}`, madeMs: null, toldMs: null };
    jobs.push(job);
    json(statusOf(job));
    return;
  }
  const job = jobs[Number(reference)];
  if (job === undefined || req.url?.includes('thumbnail')) res.writeHead(404).end();
  else if (rest !== undefined)
    res.writeHead(200, { 'content-type': 'video/mp4', 'content-length': video.length }).end(video);
  else {
    polls += 1;
    if (job.madeMs !== null) job.toldMs ??= Date.now();
    json(statusOf(job));
  }
});
server.keepAliveTimeout = 60_000;

process.on('message', (count: number) => {
  const open = jobs.filter(({ madeMs }) => madeMs === null).slice(0, count);
  for (const job of open) job.madeMs = Date.now();
  const made = jobs
    .filter(({ madeMs }) => madeMs !== null)
    .map(({ reference, madeMs, toldMs }) => ({ reference, atMs: madeMs as number, toldMs }));
  process.send?.({ jobs: jobs.length, polls, made } satisfies VideosSeen);
});
process.on('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
