// Text of a failed call for standard error: code and message, what to do, where to look.
import { printable } from '../output.ts';
import { keptDiscovery } from './discovery.ts';
import type { CallFailed } from './http.ts';

/** Lines for standard error. */
export async function failureText({ failure, url }: CallFailed): Promise<string> {
  const { code, message, errors = [], retry_after_ms, request_id, docs_url, log_url } = failure;
  const advice = (await keptDiscovery(url))?.advice[code];
  const more: [string, string | undefined][] = [
    ...errors.map(({ param = '', message: fault = '' }): [string, string] => ['field', `${param}: ${fault}`]),
    ['hint', advice],
    ['retry', retry_after_ms === undefined ? undefined : `after ${retry_after_ms} ms`],
    ['request_id', request_id],
    ['docs', docs_url],
    ['log', log_url],
  ];
  const lines = more.flatMap(([name, text]) =>
    text === undefined ? [] : [`  ${name.padEnd(10)}  ${printable(text)}`],
  );
  return [printable(`${code}: ${message}`), ...lines].join('\n');
}
