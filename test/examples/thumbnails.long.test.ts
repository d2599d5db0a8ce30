// The thumbnail service of the examples, as a program: an image by its URL, at a width.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { blank } from '../image/harness.ts';
import { PROJECT } from '../support/process.ts';
import { createTestAccount, startTestService } from '../support/service.ts';

test('it makes thumbnails, is read at a glance, and tells what it cannot do', async () => {
  const program = join(PROJECT, 'examples/thumbnails/server.ts');
  expect(readFileSync(program, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(30);
  const photo = await blank(800, 600).jpeg().toBuffer();
  const photos = createServer((_, reply) => void reply.end(photo)).listen(0, '127.0.0.1');
  await once(photos, 'listening');
  const service = await startTestService({ env: { ALLOW_PRIVATE_SOURCES: '127.0.0.1/32' } });
  const { secret } = await createTestAccount(service.core);
  const env = { ...process.env, QM_URL: service.url, QM_KEY: secret, PORT: '18431' };
  const child = spawn(process.execPath, ['--no-warnings', program], { env });
  try {
    await once(child.stdout, 'data');
    const source = `http://127.0.0.1:${(photos.address() as AddressInfo).port}/photo.jpg`;
    const reply = await fetch(`http://127.0.0.1:18431/?${new URLSearchParams({ url: source, width: '200' })}`);
    expect(reply.status).toBe(200);
    const made = await sharp(Buffer.from(await reply.arrayBuffer())).metadata();
    expect(made).toMatchObject({ format: 'webp', width: 200, height: 150 });
    expect((await fetch('http://127.0.0.1:18431/?url=none')).status).toBe(400);
  } finally {
    child.kill();
    await service.stop();
    photos.close();
  }
});
