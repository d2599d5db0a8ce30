// Pages of modules for anybody (kit/public-page.ts), as raw routes.
import { admission } from '../../core/admission.ts';
import type { PageAnswer, PageRequest, PublicPage } from '../../kit/public-page.ts';
import type { RawAnswer, RawRequest, RawRoute } from '../../kit/raw-route.ts';
import type { Services } from '../../kit/services.ts';
import { html } from '../../lib/html.ts';
import type { Problem } from '../../problems/problem.ts';
import { foreignFormPage, message, retryAfter } from './message.ts';
import { isOwnForm, readForm } from './own-form.ts';
import { withOwnHost } from './own-host.ts';
import { PageViews } from './page-views.ts';
import { cookieName, sentCookie, setCookie } from './session-cookie.ts';

export function routeOfPublicPage(services: () => Services, page: PublicPage): RawRoute {
  let visits: PageViews | undefined;
  return withOwnHost(services, {
    name: page.name,
    methods: page.methods,
    path: page.path,
    capability: null,
    entryForm: 'console',
    bodyBytesMax: admission.doors.formBytesMax,
    refuse: failurePage,
    answer: async (request, state) => {
      const { baseUrl, bounds } = services();
      visits ??= new PageViews(bounds);
      visits.count(request.remoteAddress);
      if (request.method === 'POST' && !isOwnForm(request.headers, baseUrl)) return foreignFormPage();
      return frameAnswer(baseUrl, await page.answer(pageRequest(baseUrl, request), state));
    },
  });
}

function pageRequest(baseUrl: string, { method, params, query, headers, body }: RawRequest): PageRequest {
  const isForm = method === 'POST';
  return {
    isForm,
    params,
    query,
    form: isForm ? readForm(headers, body) : new URLSearchParams(),
    cookie: (name) => sentCookie(headers.cookie, cookieName(baseUrl, name)),
  };
}

function frameAnswer(baseUrl: string, { status, title, content, cookies = [], onward }: PageAnswer): RawAnswer {
  const headers = {
    ...(cookies.length > 0 && {
      'set-cookie': cookies.map(({ name, value, lifeMs }) => setCookie(baseUrl, name, value, lifeMs)),
    }),
    ...(onward !== undefined && { refresh: `0; url=${onward}` }),
  };
  return message(status, title, content, { headers });
}

function failurePage(failure: Problem): RawAnswer {
  const text = html`<p class="failure" role="alert">${failure.message}</p>`;
  return message(failure.httpStatus, 'This page cannot be shown', text, { headers: retryAfter(failure) });
}
