// @ts-check
// Solves the challenge of the captcha page: tries one counter after another, as ALTCHA v2 defines it, and sends the form with the solution.

const form = document.querySelector('[data-challenge]')?.closest('form');
const told = document.querySelector('[data-progress]');
if (form instanceof HTMLFormElement && told !== null) void solve(form, told);

/** @typedef {{ nonce: string, salt: string, cost: number, keyLength: number, keyPrefix: string }} Parameters */

/**
 * @param {HTMLFormElement} form
 * @param {Element} told
 */
async function solve(form, told) {
  const text = /** @type {HTMLElement} */ (form.querySelector('[data-challenge]')).dataset.challenge ?? '{}';
  const challenge = JSON.parse(text);
  if (crypto.subtle === undefined) {
    told.textContent = 'Browsers solve challenges on HTTPS and localhost only.';
    return;
  }
  const begun = performance.now();
  for (let counter = 0; ; counter += 1) {
    if (!form.isConnected) return;
    const derivedKey = await keyOf(challenge.parameters, counter);
    if (derivedKey.startsWith(challenge.parameters.keyPrefix)) {
      const solution = { counter, derivedKey, time: Math.round(performance.now() - begun) };
      const payload = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem('payload'));
      payload.value = btoa(JSON.stringify({ challenge, solution }));
      told.textContent = `Solved with ${counter + 1} tries in ${solution.time} ms.`;
      form.requestSubmit();
      return;
    }
    if (counter % 50 === 0) told.textContent = `Solving: ${counter} tries…`;
  }
}

/**
 * PBKDF2 over the nonce with the counter behind it.
 * @param {Parameters} parameters
 * @param {number} counter
 */
async function keyOf({ nonce, salt, cost, keyLength }, counter) {
  const password = new Uint8Array([...bytesOf(nonce), 0, 0, 0, 0]);
  new DataView(password.buffer).setUint32(password.length - 4, counter);
  const key = await crypto.subtle.importKey('raw', password, 'PBKDF2', false, ['deriveBits']);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt: bytesOf(salt), iterations: cost };
  const bits = new Uint8Array(await crypto.subtle.deriveBits(how, key, keyLength * 8));
  return [...bits].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param {string} hex */
function bytesOf(hex) {
  return new Uint8Array((hex.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)));
}
