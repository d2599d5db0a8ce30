// The sandbox: renders real videos from a prompt's words on this machine, in threads of their own. A video is a function of its scenes, size and
// image: rendering it again gives the same bytes.
import { rm } from 'node:fs/promises';
import { Threads } from '../../../../lib/threads.ts';
import type { VideoSandbox } from '../port.ts';
import type { RenderProgress, RenderTask } from './render-thread.ts';

const threads = new Threads<RenderTask, undefined, RenderProgress>(new URL('./render-thread.ts', import.meta.url));

export const videoSandbox: VideoSandbox = {
  async render({ onProgress, signal, ...task }) {
    const { videoPath, thumbnailPath } = task;
    try {
      const made = await threads.run(task, signal, {
        onProgress: ({ frame, frames }) => onProgress((100 * frame) / frames),
      });
      signal.throwIfAborted();
      if (made === null) throw new Error('the thread of a video ended');
    } catch (error) {
      await Promise.all([videoPath, thumbnailPath].map((path) => rm(path, { force: true })));
      throw error;
    }
  },
};
