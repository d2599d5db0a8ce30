// The process that makes pictures of videos (pictures).
import { servePictures } from '../../../../pictures/serve.ts';

servePictures(async () => (await import('./picture.ts')).makePicture);
