// Console pages of module image.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { imagesPage } from './images.ts';
import { jobDeletePage, jobPage } from './job.ts';
import { transformPage } from './transform.ts';

export const imageConsole: ModuleConsole = {
  pages: [imagesPage, transformPage, jobPage, jobDeletePage],
};
