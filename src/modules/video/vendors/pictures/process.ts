// Entry point of the process that converts pictures for videos (pictures).
import { servePictures } from '../../../../pictures/serve.ts';

servePictures(async () => (await import('./picture.ts')).makePicture);
