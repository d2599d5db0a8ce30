// Pages for a sign-in by a provider that did not complete. No text of the provider is shown.

import type { RawAnswer } from '../../../kit/raw-route.ts';
import { type Html, html } from '../../../lib/html.ts';
import type { Problem } from '../../../problems/problem.ts';
import type { IdentityFailure } from '../../../vendors/identity/port.ts';
import { message, retryAfter } from '../message.ts';

export interface Told {
  readonly status: number;
  readonly title: string;
  readonly text: string;
}

/** @param back a path of this service: where it goes on */
export function statusPage({ status, title, text }: Told, back: string, headers: RawAnswer['headers'] = {}): RawAnswer {
  return message(status, title, html`<p role="status">${text}</p>\n${link(back, 'Continue')}`, { headers });
}

/** Where a form may not lead outside of the service, this page does: it goes on by itself, and by its link. */
export function onwardPage(name: string, url: string, headers: RawAnswer['headers']): RawAnswer {
  const onward = { ...headers, refresh: `0; url=${url}` };
  return message(200, `On to ${name}`, link(url, `Continue with ${name}`), { headers: onward });
}

function link(url: string, text: string): Html {
  return html`<p><a href="${url}">${text}</a></p>`;
}

export const noSuchProvider: Told = {
  status: 404,
  title: 'There is no such way to sign in',
  text: 'This service knows no identity provider of that name.',
};

export function notBegun(baseUrl: string): Told {
  return {
    status: 400,
    title: 'This sign-in did not begin here',
    text: `It began in another browser, under another address than ${baseUrl}, or more than ten minutes ago. Nobody was signed in.`,
  };
}

/** 409 STATE_CONFLICT, account_not_empty. */
export const hasBoth: Told = {
  status: 409,
  title: 'You have two accounts now',
  text: 'The identity is linked. It had an account of its own that is in use, so nothing of it was moved: you can switch between the two.',
};

export function refusalPage(failure: Problem, back: string, headers: RawAnswer['headers'] = {}): RawAnswer {
  const told = { status: failure.httpStatus, title: 'Nobody was signed in', text: failure.message };
  return statusPage(told, back, { ...headers, ...retryAfter(failure) });
}

/** The sentences for what a provider, or what came back from it, failed with. */
export const failures: Readonly<Record<IdentityFailure, (name: string) => Told>> = {
  declined: (name) => ({
    status: 403,
    title: 'You were not signed in',
    text: `${name} says that the sign-in was declined. Nothing was changed.`,
  }),
  unreachable: (name) => ({
    status: 503,
    title: `${name} does not answer`,
    text: 'It may be back in a moment. Nothing was changed.',
  }),
  invalid: (name) => ({
    status: 400,
    title: 'Nobody was signed in',
    text: `What came back from ${name} does not prove who you are. It may have been used before: begin again.`,
  }),
};
