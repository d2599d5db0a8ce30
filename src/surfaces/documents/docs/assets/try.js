// @ts-check
// "Try it" within the page of a capability: the form of the console's page for it, and what the call answers. The form is the console's own,
// sent to the console: it has the token of the session and an idempotency key, and the console decides.

/** @type {{ createHTML(text: string): string }} */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('qm', {
  createHTML: (/** @type {string} */ text) => text,
}) ?? {
  createHTML: (text) => text,
};
const headers = { accept: 'text/html' };

/**
 * Puts the form into the place; false: there is none, because nobody is signed in or may not call it.
 * @param {string} address @param {HTMLElement} place
 */
export async function show(address, place) {
  return put(await fetch(address, { headers }), address, place);
}

/** @param {Response} answer @param {string} address @param {HTMLElement} place */
async function put(answer, address, place) {
  if (answer.redirected) return false;
  const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
  const form = page.querySelector('main form.act');
  if (!(form instanceof HTMLFormElement)) return false;
  place.replaceChildren(...page.querySelectorAll('main > [role=alert], main > section[aria-label=Call]'), form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(form, address, place);
  });
  return true;
}

/** @param {HTMLFormElement} form @param {string} address @param {HTMLElement} place */
async function send(form, address, place) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) body.append(name, String(value));
  // Sent twice it is one call: the form carries an idempotency key.
  const sent = await fetch(address, { method: 'POST', headers, body }).catch(() => null);
  if (sent === null || !(await put(sent, address, place))) return location.assign(address);
  const told = /** @type {HTMLElement | null} */ (place.querySelector('h2, [role=alert]'));
  told?.setAttribute('tabindex', '-1');
  told?.focus();
}
