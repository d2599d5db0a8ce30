// The process that works on images (core/pictures).
import { servePictures } from '../../../core/pictures/serve.ts';

servePictures(async () => (await import('./make.ts')).makeImage);
