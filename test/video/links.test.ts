// Links to videos: they need no key, end by time, die with the job, and take what players ask for.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Data, VideoBench } from './harness.ts';

let bench: VideoBench;
beforeAll(async () => {
  bench = await VideoBench.start();
});
afterAll(() => bench.service.stop());

describe('links', () => {
  let url: string;
  let size: number;
  let job: Data;
  beforeAll(async () => {
    job = await bench.ended((await bench.generate()).job_id);
    ({ video_url: url, size_bytes: size } = job);
  });

  test('take HEAD, ranges and If-Range', async () => {
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')]).toEqual([
      200,
      String(size),
      'bytes',
    ]);
    const etag = head.headers.get('etag') as string;
    const part = await fetch(url, { headers: { range: 'bytes=0-99', 'if-range': etag } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 0-99/${size}`]);
    expect((await part.arrayBuffer()).byteLength).toBe(100);
    const whole = await fetch(url, { headers: { range: 'bytes=0-' } });
    expect(whole.status).toBe(206);
    await whole.arrayBuffer();
    const beyond = await fetch(url, { headers: { range: `bytes=${size}-` } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${size}`]);
  });

  test('may be used by any page, and are of the type that they say', async () => {
    const { headers, body } = await fetch(url);
    await body?.cancel();
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-encoding')).toBe(null);
  });

  const changed = (change: (link: URL) => void): string => {
    const link = new URL(url);
    change(link);
    return link.href;
  };
  const refused = async (href: string) => {
    const reply = await fetch(href);
    return [reply.status, (await reply.json()).error.code];
  };

  test('forged in any part are refused', async () => {
    const forged = [
      changed((link) => link.searchParams.set('exp', String(Number(link.searchParams.get('exp')) + 1))),
      changed((link) => link.searchParams.set('sig', `${'A'.repeat(43)}.${bench.account.accountId}`)),
      changed((link) => link.searchParams.set('sig', `${link.searchParams.get('sig')}x`)),
      changed((link) => link.searchParams.delete('sig')),
      changed((link) => {
        link.pathname = link.pathname.replace('.mp4', '.jpg');
      }),
    ];
    for (const href of forged) expect(await refused(href), href).toEqual([403, 'LINK_EXPIRED']);
    expect(
      (
        await fetch(
          changed((link) => {
            link.pathname = '/v1/video/content/..%2f..%2fetc';
          }),
        )
      ).status,
    ).toBe(404);
  });

  test('end by the clock of the database', async () => {
    const own = await VideoBench.start();
    const { job_id: id } = await own.ended((await own.generate()).job_id);
    const link = await own.ok('GET', `/v1/video/download_url/${id}?expires_seconds=60`);
    expect(link).toMatchObject({ job_id: id, content_type: 'video/mp4' });
    expect((await fetch(link.url, { method: 'HEAD' })).status).toBe(200);
    await own.service.advance(61);
    expect(await refused(link.url)).toEqual([403, 'LINK_EXPIRED']);
    await own.service.stop();
  });

  test('die with the job', async () => {
    const { job_id: id, video_url: link } = await bench.ended((await bench.generate()).job_id);
    expect(await bench.ok('DELETE', `/v1/video/delete/${id}`)).toEqual({ ok: true, job_id: id });
    expect(await refused(link)).toEqual([404, 'NOT_FOUND']);
    expect(await bench.fails('GET', `/v1/video/get/${id}`)).toEqual([404, 'JOB_NOT_FOUND', 'job_id', undefined]);
    expect(await bench.ok('DELETE', `/v1/video/delete/${id}`)).toEqual({ ok: true, job_id: id });
  });
});
