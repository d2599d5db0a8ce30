// What tests of admission share: a capability that hangs until it is let go, holding bytes of an answer if asked; requests as text, and what /metrics tells.
import Type from 'typebox';
import { expect } from 'vitest';
import { defineCapability } from '../../src/kit/capability.ts';
import { defineModule } from '../../src/kit/module.ts';
import type { TestService } from '../support/service.ts';

let hanging: (() => void)[] = [];

const hang = defineCapability()({
  method: 'POST',
  path: '/v1/trial/hang',
  summary: 'Hangs.',
  description: 'Answers when the test lets it.',
  input: Type.Object({
    answer_bytes: Type.Optional(Type.Integer({ minimum: 1, description: 'It holds so much of an answer until then.' })),
  }),
  output: Type.Object({}),
  unlimited: true,
  bodyBytesMax: 1_024,
  examples: [{ title: 'Hang', input: {} }],
  async run({ ctx, input }) {
    if (input.answer_bytes !== undefined) ctx.holdMade(input.answer_bytes);
    await new Promise<void>((resolve) => hanging.push(resolve));
    return { data: {} };
  },
});

const long = defineCapability()({
  method: 'GET',
  path: '/v1/trial/long',
  summary: 'Answers a megabyte.',
  description: 'Answers a text of 1 MiB.',
  input: Type.Object({}),
  output: Type.Object({ text: Type.String({ description: 'A MiB.' }) }),
  examples: [{ title: 'A MiB', input: {} }],
  async run() {
    return { data: { text: 'x'.repeat(1024 * 1024) } };
  },
});

export const trialModule = defineModule({
  name: 'trial',
  summary: 'Calls that hang or answer much.',
  status: 'beta',
  capabilities: [hang, long],
});

/** Waits until so many calls hang. */
export async function hangingCalls(count: number): Promise<void> {
  await expect.poll(() => hanging.length, { interval: 5 }).toBe(count);
}

export function letGo(): void {
  const calls = hanging;
  hanging = [];
  for (const call of calls) call();
}

export function requestText(method: string, path: string, headers: readonly string[] = [], body = ''): string {
  const length = body === '' && method === 'GET' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', ...headers, ...length, '', body].join('\r\n');
}

export const bearer = (secret: string) => `Authorization: Bearer ${secret}`;

/** One of /metrics; all labels together. */
export async function metric({ url }: TestService, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

export async function untilMetric(service: TestService, name: string, value: number): Promise<void> {
  await expect.poll(() => metric(service, name), { interval: 10 }).toBe(value);
}
