// A thumbnail service: GET /?url=https://…&width=300 answers the image at that width, as WebP.
import { createServer } from 'node:http';

const base = process.env.QM_URL ?? 'http://127.0.0.1:8787';

async function thumbnail(url: string, width: number): Promise<Buffer> {
  const reply = await fetch(`${base}/v1/image/transform`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.QM_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source: { url }, resize: { width }, format: 'webp' }),
  });
  const { ok, data, error } = (await reply.json()) as {
    ok: boolean;
    data: { url: string };
    error: { message: string };
  };
  if (!ok) throw new Error(error.message);
  return Buffer.from(await (await fetch(data.url)).arrayBuffer());
}

createServer(async ({ url = '/' }, reply) => {
  const asked = new URL(url, base).searchParams;
  try {
    const image = await thumbnail(asked.get('url') ?? '', Number(asked.get('width') ?? 300));
    reply.writeHead(200, { 'content-type': 'image/webp', 'cache-control': 'max-age=3600' }).end(image);
  } catch (failure) {
    reply.writeHead(400, { 'content-type': 'text/plain' }).end(`${(failure as Error).message}\n`);
  }
}).listen(Number(process.env.PORT ?? 8080), () => console.log('thumbnails on port', process.env.PORT ?? 8080));
