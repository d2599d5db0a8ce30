// Looks at films that come from outside, each in a thread of its own: what they are made of may take long, or more memory than there is.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { CheckedFilm, FilmChecks } from '../port.ts';

const HEAP_MB_MAX = 256;
const LOOK_MS_MAX = 120_000;

interface FilmLog {
  warn(details: object, message: string): void;
}

/** `ffmpegPath`: the program that takes pictures out of films; null: there is none. */
export function filmChecks({ ffmpegPath, log }: { ffmpegPath: string | null; log: FilmLog }): FilmChecks {
  return {
    check,
    async frame(film, to, signal) {
      if (ffmpegPath === null) return false;
      try {
        await takePicture(ffmpegPath, film, to, signal);
        return true;
      } catch (err) {
        signal.throwIfAborted();
        log.warn({ err }, 'no picture could be taken of a film');
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
  { path, contentType }: Parameters<FilmChecks['frame']>[0],
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

function check(path: string, signal: AbortSignal): Promise<CheckedFilm> {
  signal.throwIfAborted();
  return new Promise<CheckedFilm>((resolve, reject) => {
    const worker = new Worker(new URL('./look.ts', import.meta.url), {
      workerData: { path },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    });
    const stop = () => void worker.terminate();
    const timer = setTimeout(stop, LOOK_MS_MAX);
    signal.addEventListener('abort', stop);
    let found: CheckedFilm = {
      kind: 'unsound',
      message: 'looking through it takes more time or memory than a film does.',
    };
    worker.on('message', (checked: CheckedFilm) => {
      found = checked;
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      // Out of memory is what the film did; all else is ours.
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') reject(error);
    });
    worker.on('exit', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      if (signal.aborted) reject(signal.reason);
      else resolve(found);
    });
  });
}
