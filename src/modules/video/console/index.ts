// What module video brings to the console.
import { foundIn } from '../../../kit/console/find.ts';
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { list } from '../capabilities/list.ts';
import { jobDeletePage, jobPage } from './job.ts';
import { videoPage } from './video.ts';

export const videoConsole: ModuleConsole = {
  pages: [videoPage, jobPage, jobDeletePage],
  find: (visit, text) =>
    foundIn(visit, list, text, ({ job_id: id, prompt }) => ({
      ...{ kind: 'video', name: prompt === '' ? id : prompt, id, path: `/video/${id}` },
    })),
};
