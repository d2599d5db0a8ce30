// "Try it": a form that calls a capability as the visitor, and shows request and answer. Pages of the documentation lead here.

import { moduleOf } from '../../../core/callers/scopes.ts';
import type { Capability } from '../../../kit/capability.ts';
import { copiedBlock } from '../../../kit/console/copied.ts';
import { actForm } from '../../../kit/console/form.ts';
import type { Act, ConsolePage, View } from '../../../kit/console/page.ts';
import { short, TEXT_CHARACTERS_MAX } from '../../../kit/console/text.ts';
import type { Visit } from '../../../kit/console/visit.ts';
import { type Html, html } from '../../../lib/html.ts';
import { pricingOf } from '../../../manifest/describe.ts';
import type { Manifest } from '../../../manifest/manifest.ts';
import { type Problem, problem } from '../../../problems/problem.ts';
import { isTriable } from '../../documents/docs/triable.ts';
import { priceInWords } from '../../documents/price-in-words.ts';
import { formOf, inputOf } from './fields.ts';

export function tryPage(manifest: Manifest): ConsolePage {
  const triable = manifest.capabilities.filter(isTriable);
  return {
    name: 'try',
    path: '/try/{capability}',
    needs: { id: 'discovery' },
    acts: Object.fromEntries(triable.map((capability) => [capability.id, actOf(manifest, capability)])),
    async show(visit) {
      const capability = triable.find(({ id }) => id === visit.params.capability);
      if (capability === undefined) throw problem('NOT_FOUND');
      if (!visit.may(capability)) throw missingScope(capability);
      return viewOf(manifest, visit, capability, { called: refusedHtml(visit, capability), typed: null });
    },
  };
}

function actOf(manifest: Manifest, capability: Capability): Act {
  return {
    capability,
    done: 'The call was made.',
    input: (form) => inputOf(capability, form),
    answerView: (_data, visit, form, envelope) =>
      viewOf(manifest, visit, capability, {
        called: callHtml(visit, capability, form, { status: 200, envelope }),
        typed: form,
      }),
  };
}

function missingScope({ id, scope }: Capability): Problem {
  const needed = `${moduleOf(id)}:${scope}`;
  return problem('INSUFFICIENT_SCOPE', {
    message: `You are signed in without the scope ${needed}, which this call needs.`,
    detail: needed,
  });
}

interface Shown {
  readonly called: Html;
  readonly typed: URLSearchParams | null;
}

function viewOf(manifest: Manifest, visit: Visit, capability: Capability, { called, typed }: Shown): View {
  const { id, method, path, summary } = capability;
  const form = html`${formOf(visit, capability, typed)}<button class="main">Send</button>`;
  const content = html`<h1>Try <code>${id}</code></h1>
<p>${summary} It runs in your account. Price: ${priceInWords(pricingOf(capability, manifest.prices))}. <a href="${visit.elsewhere(`/docs/capabilities/${id}`)}">Documentation</a></p>
<p><code>${method} ${path}</code></p>
${called}
${actForm(visit, id, form)}`;
  return { title: `Try ${id}`, content };
}

/** What came of a form that was refused; nothing where none was. */
function refusedHtml(visit: Visit, capability: Capability): Html {
  const { refused } = visit;
  if (refused === null || refused.envelope === null) return html``;
  const {
    form,
    envelope,
    problem: { httpStatus: status },
  } = refused;
  return callHtml(visit, capability, form, { status, envelope });
}

function callHtml(
  visit: Visit,
  capability: Capability,
  form: URLSearchParams,
  { status, envelope }: { readonly status: number; readonly envelope: string },
): Html {
  const { metadata } = JSON.parse(envelope) as { metadata: { latency_ms?: number } };
  const tookMs = metadata.latency_ms === undefined ? '' : `, ${metadata.latency_ms} ms`;
  return html`<section class="panel" aria-label="Call"><h2>Request</h2>
${copiedBlock(html`<pre class="scroll" tabindex="0" aria-label="Request">${visit.curl(capability, inputOf(capability, form))}</pre>`, 'the request')}
<h2>Answer: ${status}${tookMs}</h2>
${copiedBlock(html`<pre class="scroll" tabindex="0" aria-label="Answer">${short(pretty(envelope), TEXT_CHARACTERS_MAX)}</pre>`, 'the answer')}</section>`;
}

function pretty(envelope: string): string {
  return JSON.stringify(JSON.parse(envelope), null, 2);
}
