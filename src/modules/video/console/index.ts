// Console pages of module video.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { jobDeletePage, jobPage } from './job.ts';
import { videoPage } from './video.ts';

export const videoConsole: ModuleConsole = {
  pages: [videoPage, jobPage, jobDeletePage],
};
