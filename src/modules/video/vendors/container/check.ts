// Checks of videos from outside: whether a file is sound, and a thumbnail from it.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { AccountPlaces } from '../../../../core/account-places.ts';
import { AccountThreads } from '../../../../core/account-threads.ts';
import type { CheckedVideo, VideoChecks } from '../port.ts';

// What videos from outside are made of may take long, or more memory than there is: they are looked through in threads, and by a program that takes a picture out of them.
const LOOKS_AT_ONCE = 4;
/** A damaged video can keep its reader going without end: so long it may look. */
const LOOK_MS_MAX = 30_000;
/** Then, if the index is to be moved, the video is written anew. */
const MOVE_MS_MAX = 120_000;
const PICTURES_AT_ONCE = 2;

interface VideoLog {
  warn(details: object, message: string): void;
}

export interface VideoOptions {
  /** The program that takes pictures out of videos; null: there is none. */
  readonly ffmpegPath: string | null;
  readonly log: VideoLog;
  readonly lookMsMax?: number;
}

export function videoChecks({ ffmpegPath, log, lookMsMax = LOOK_MS_MAX }: VideoOptions): VideoChecks {
  const bounds = { threads: LOOKS_AT_ONCE, msMax: lookMsMax, progressMsMax: MOVE_MS_MAX };
  const threads = new AccountThreads<string, CheckedVideo, 'looked'>(new URL('./look.ts', import.meta.url), bounds);
  const pictures = new AccountPlaces(PICTURES_AT_ONCE);
  return {
    check: (accountId, path, signal) =>
      threads.run(accountId, signal, async (perform) => {
        const done = await perform(path);
        const message = 'looking through it takes more time or memory than a video does.';
        return done.kind === 'answer' ? done.answer : { kind: 'unsound', message };
      }),
    async frame(accountId, video, to, signal) {
      if (ffmpegPath === null) return false;
      try {
        await pictures.run(accountId, signal, () => takePicture(ffmpegPath, video, to, signal));
        return true;
      } catch (err) {
        signal.throwIfAborted();
        log.warn({ err }, 'no picture could be taken of a video');
        return false;
      }
    },
  };
}

const PICTURE_MS_MAX = 20_000;
const PICTURE_PX_MAX = 1_280;
const formats = { 'video/mp4': 'mov', 'video/webm': 'matroska' } as const;

/** The file says nothing about how it is read, and nothing but the file is read. */
async function takePicture(
  ffmpegPath: string,
  { path, contentType }: Parameters<VideoChecks['frame']>[1],
  to: string,
  signal: AbortSignal,
): Promise<void> {
  const reading = ['-protocol_whitelist', 'file', '-f', formats[contentType], '-i', `file:${path}`];
  const scale = `scale='min(${PICTURE_PX_MAX},iw)':-2`;
  const writing = ['-frames:v', '1', '-vf', scale, '-f', 'mjpeg', '-y', `file:${to}`];
  await promisify(execFile)(ffmpegPath, ['-nostdin', '-v', 'error', '-threads', '1', ...reading, ...writing], {
    signal,
    timeout: PICTURE_MS_MAX,
    killSignal: 'SIGKILL',
    env: {},
  });
}
