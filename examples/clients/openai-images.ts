// The official OpenAI client, unchanged: an image of words, saved as a file.
import { writeFile } from 'node:fs/promises';
import OpenAI from 'openai';

const url = process.env.QM_URL ?? 'http://127.0.0.1:8787';
const openai = new OpenAI({ apiKey: process.env.QM_KEY ?? '', baseURL: `${url}/v1` });

const { data } = await openai.images.generate({
  model: process.env.IMAGE_MODEL ?? 'auto',
  prompt: 'A paper boat on a pond.',
  size: '512x512',
});
const file = process.argv[2] ?? 'boat.png';
await writeFile(file, Buffer.from(data?.[0]?.b64_json ?? '', 'base64'));
console.log('saved', file);
