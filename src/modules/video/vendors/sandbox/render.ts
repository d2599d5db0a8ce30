// The sandbox: makes real films here, of the words of a prompt, in threads of their own. A film is a function of its scenes, its size and
// its image: making it again makes the same bytes.
import { rm } from 'node:fs/promises';
import type { FilmSandbox } from '../port.ts';
import { Threads } from '../threads.ts';
import type { FilmProgress, FilmTask } from './film.ts';
import { ordersIn } from './storyboard.ts';

const threads = new Threads<FilmTask, undefined, FilmProgress>(new URL('./film.ts', import.meta.url));

export const filmSandbox: FilmSandbox = {
  ordersIn,
  async render({ onProgress, signal, ...task }) {
    const { filmPath, thumbnailPath } = task;
    try {
      const made = await threads.run(task, signal, ({ frame, frames }) => onProgress((100 * frame) / frames));
      signal.throwIfAborted();
      if (made === null) throw new Error('the thread of a film ended');
    } catch (error) {
      await Promise.all([filmPath, thumbnailPath].map((path) => rm(path, { force: true })));
      throw error;
    }
  },
};
