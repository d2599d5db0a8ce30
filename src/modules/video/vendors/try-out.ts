// Trial run of a model: generates the smallest real video, so that an operator can verify vendor, key and row.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { VendorJob } from '../../../vendors/call/job.ts';
import type { VendorCall } from '../../../vendors/call/port.ts';
import type { ModelRow, TryOut } from '../../../vendors/file/port.ts';
import type { VideoAdapter, VideoProgress, VideoResolution, VideoWork } from './port.ts';

const POLL_EVERY_MS = 3_000;
const SHORT_SIDES: Readonly<Record<VideoResolution, number>> = { '720p': 720, '1080p': 1080, '4k': 2160 };

export interface TryOutOptions {
  /** What happens on the way. */
  say(line: string): void;
  /** Three seconds when absent. */
  readonly pollEveryMs?: number;
}

/** Submits, waits for the end, and fetches what was made. `call.signal` ends the wait; the vendor is then asked to stop. */
export async function tryVideo(
  adapter: VideoAdapter,
  row: Pick<ModelRow, 'id' | 'traits' | 'options'>,
  call: VendorCall,
  { say, pollEveryMs = POLL_EVERY_MS }: TryOutOptions,
): Promise<TryOut> {
  const work = smallestWork(row);
  const submission = await adapter.submit(call, work);
  if (submission.kind !== 'accepted') {
    if (submission.kind === 'not_sent') return { ok: false, message: 'nothing was sent' };
    const reason = submission.kind === 'refused' ? submission.reason : 'whether it was accepted is not known';
    return {
      ok: false,
      message: [`${reason}: ${submission.message}`, submission.vendorSaid].filter(Boolean).join(' '),
    };
  }
  const { job } = submission;
  say(`accepted as ${job.reference}: ${work.seconds} s at ${work.resolution}`);
  const end = await waitForEnd(adapter, call, job, say, pollEveryMs);
  if (end === null) {
    const { kind } = await stop(adapter, call, job);
    return { ok: false, message: `it took too long; the vendor was asked to stop (${kind})` };
  }
  if (end.kind !== 'succeeded')
    return { ok: false, message: 'message' in end ? `${end.kind}: ${end.message}` : end.kind };
  return fetchVideo(adapter, call, end.videoUrl);
}

function smallestWork({ id, traits, options }: Pick<ModelRow, 'id' | 'traits' | 'options'>): VideoWork {
  const said = traits as {
    readonly seconds?: { readonly min?: number; readonly only?: readonly number[] };
    readonly resolutions?: readonly VideoResolution[];
    readonly aspect_ratios?: readonly string[];
  };
  const resolution = said.resolutions?.[0] ?? '720p';
  const aspectRatio = said.aspect_ratios?.[0] ?? '16:9';
  const [across = 16, down = 9] = aspectRatio.split(':').map(Number);
  const short = SHORT_SIDES[resolution];
  const long = (ratio: number) => Math.round((short * ratio) / 2) * 2;
  return {
    operation: 'generate',
    model: id,
    options,
    prompt: 'A paper boat drifts on calm water at sunrise.',
    negativePrompt: null,
    seconds: said.seconds?.only === undefined ? (said.seconds?.min ?? 1) : Math.min(...said.seconds.only),
    resolution,
    aspectRatio,
    width: across >= down ? long(across / down) : short,
    height: across >= down ? short : long(down / across),
    seed: null,
    image: null,
    parent: null,
    token: randomUUID(),
    callbackUrl: null,
    deadlineMinutes: 20,
  };
}

/** Null: the signal came first. */
async function waitForEnd(
  adapter: VideoAdapter,
  call: VendorCall,
  job: VendorJob,
  say: (line: string) => void,
  pollEveryMs: number,
): Promise<Exclude<VideoProgress, { kind: 'queued' | 'running' | 'unanswered' }> | null> {
  for (let told = ''; !call.signal.aborted; ) {
    const progress = await adapter.poll(call, job);
    if (!isOpen(progress)) return progress;
    const line = progress.kind === 'unanswered' ? progress.message : [progress.kind, percent(progress)].join('');
    if (line !== told) say(line);
    told = line;
    await sleep(pollEveryMs, undefined, { signal: call.signal }).catch(() => undefined);
  }
  return null;
}

function isOpen(
  progress: VideoProgress,
): progress is Extract<VideoProgress, { kind: 'queued' | 'running' | 'unanswered' }> {
  return progress.kind === 'queued' || progress.kind === 'running' || progress.kind === 'unanswered';
}

function percent({ progressPct }: { readonly progressPct: number | null }): string {
  return progressPct === null ? '' : ` ${progressPct} %`;
}

/** The wait is over, so its signal would end this call too. */
function stop(adapter: VideoAdapter, call: VendorCall, job: VendorJob) {
  return adapter.cancel({ ...call, signal: AbortSignal.timeout(call.timeouts.pollMs) }, job);
}

async function fetchVideo(adapter: VideoAdapter, call: VendorCall, url: string): Promise<TryOut> {
  const download = await adapter.download(call, url);
  if (download.kind !== 'opened') return { ok: false, message: `the video cannot be fetched: ${download.message}` };
  let bytes = 0;
  try {
    for await (const chunk of download.body) bytes += (chunk as Uint8Array).length;
  } catch (error) {
    return { ok: false, message: `the video broke off after ${bytes} bytes: ${(error as Error).message}` };
  }
  return { ok: true, message: `it made a video: ${download.contentType}, ${bytes} bytes` };
}
