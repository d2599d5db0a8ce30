// Links to what a job has made: they need no key, end by time, and are signed over asset, kind and end. The account is part of a link, so that
// the job is found by it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secrets } from '../../../core/secrets/secrets.ts';
import { problem } from '../../../problems/problem.ts';
import type { Links } from './record.ts';
import { type JobRow, storedVideoOf } from './row.ts';

export type AssetKind = 'video' | 'thumbnail';

const endings: Readonly<Record<AssetKind, string>> = { video: 'mp4', thumbnail: 'jpg' };
const namePattern = /^(vid_[0-9A-Za-z]{20,40})\.(mp4|jpg)$/;
const accountPattern = /^[A-Za-z0-9_-]{1,100}$/;

/** What a link names, once its signature has been checked. */
export interface Named {
  readonly accountId: string;
  readonly jobId: string;
  readonly kind: AssetKind;
  readonly endMs: number;
}

export class SignedLinks implements Links {
  readonly #key: Buffer;
  readonly #baseUrl: string;

  constructor(secrets: Secrets, baseUrl: string) {
    this.#key = secrets.derive('video-links', 32);
    this.#baseUrl = baseUrl;
  }

  video(row: JobRow, nowMs: number, seconds: number): string | null {
    return storedVideoOf(row) === null ? null : this.#link(row, 'video', nowMs, seconds);
  }

  thumbnail(row: JobRow, nowMs: number, seconds: number): string | null {
    return storedVideoOf(row)?.thumbnail == null ? null : this.#link(row, 'thumbnail', nowMs, seconds);
  }

  /** Throws NOT_FOUND for what is no link of ours, and LINK_EXPIRED for a signature that does not fit. Whether its time is over is for the caller. */
  read(name: string, query: URLSearchParams): Named {
    const [, jobId, ending] = namePattern.exec(name) ?? [];
    if (jobId === undefined) throw problem('NOT_FOUND');
    const kind = ending === 'mp4' ? 'video' : 'thumbnail';
    const [mac = '', accountId = ''] = (query.get('sig') ?? '').split('.');
    const seconds = query.get('exp') ?? '';
    if (!/^\d{1,12}$/.test(seconds) || !accountPattern.test(accountId)) throw problem('LINK_EXPIRED');
    const named = { accountId, jobId, kind, endMs: Number(seconds) * 1_000 } as const;
    const given = Buffer.from(mac, 'base64url');
    const right = this.#mac(named);
    if (given.length !== right.length || !timingSafeEqual(given, right)) throw problem('LINK_EXPIRED');
    return named;
  }

  #link(
    { account_id: accountId, job_id: jobId, expires_at }: JobRow,
    kind: AssetKind,
    nowMs: number,
    seconds: number,
  ): string | null {
    const endSeconds = Math.floor(Math.min(nowMs + seconds * 1_000, expires_at ?? Number.POSITIVE_INFINITY) / 1_000);
    if (endSeconds * 1_000 <= nowMs) return null;
    const mac = this.#mac({ accountId, jobId, kind, endMs: endSeconds * 1_000 }).toString('base64url');
    return `${this.#baseUrl}/v1/video/content/${jobId}.${endings[kind]}?exp=${endSeconds}&sig=${mac}.${accountId}`;
  }

  #mac({ accountId, jobId, kind, endMs }: Named): Buffer {
    return createHmac('sha256', this.#key).update(`${accountId}\n${jobId}\n${kind}\n${endMs}`).digest();
  }
}
