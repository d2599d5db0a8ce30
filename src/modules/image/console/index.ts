// What module image brings to the console.
import type { ModuleConsole } from '../../../kit/console/page.ts';
import { imagesPage } from './images.ts';

export const imageConsole: ModuleConsole = {
  pages: [imagesPage],
};
