// @ts-check
// The documentation's script: tabs for examples in several languages, buttons that copy, links of headings, and the search. All text
// that it shows is set as text, so nothing that somebody types or that stands in the index becomes HTML.

const script = /** @type {HTMLScriptElement} */ (document.currentScript);
const {
  search: library = '',
  find: findLibrary = '',
  try: tryLibrary = '',
  entries: entriesAddress = '',
  root = '',
} = script.dataset;
const LANGUAGE = 'qm-docs-language';
const COPIED_MS = 1_500;

/**
 * @param {string} tag
 * @param {Record<string, string>} attributes
 * @param {string} text
 */
function make(tag, attributes = {}, text = '') {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

// Tabs. The language that somebody chose is chosen on every page.

/** Where the browser keeps nothing, the choice holds for the page. @returns {string | null} */
function keptLanguage() {
  try {
    return localStorage.getItem(LANGUAGE);
  } catch {
    return null;
  }
}

/** @param {string} language */
function keepLanguage(language) {
  try {
    localStorage.setItem(LANGUAGE, language);
  } catch {
    // A browser without storage asks anew on the next page.
  }
}

/** @type {((language: string) => void)[]} */
const choosers = [];

/** @param {Element} samples @param {number} number */
function addTabs(samples, number) {
  const parts = /** @type {HTMLElement[]} */ ([...samples.querySelectorAll('.sample')]);
  const list = make('div', { role: 'tablist', 'aria-label': 'Language', class: 'tabs' });
  const tabs = parts.map((sample, i) => {
    const caption = /** @type {HTMLElement} */ (sample.querySelector('.language'));
    const id = `sample-${number}-${i}`;
    const tab = make(
      'button',
      { type: 'button', role: 'tab', id: `${id}-tab`, 'aria-controls': id },
      caption.textContent ?? '',
    );
    caption.hidden = true;
    sample.id = id;
    sample.setAttribute('role', 'tabpanel');
    sample.setAttribute('aria-labelledby', `${id}-tab`);
    tab.addEventListener('click', () => {
      keepLanguage(sample.dataset.language ?? '');
      for (const each of choosers) each(sample.dataset.language ?? '');
    });
    list.append(tab);
    return tab;
  });
  /** @param {string} language */
  const choose = (language) => {
    const found = parts.findIndex((sample) => sample.dataset.language === language);
    const chosen = Math.max(found, 0);
    for (const [i, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
      /** @type {HTMLElement} */ (parts[i]).hidden = i !== chosen;
    }
  };
  list.addEventListener('keydown', ({ key }) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    const at = tabs.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (by === undefined || at < 0) return;
    const next = tabs[(at + by + tabs.length) % tabs.length];
    next?.focus();
    next?.click();
  });
  samples.prepend(list);
  choosers.push(choose);
  choose(keptLanguage() ?? 'bash');
}

for (const [number, samples] of document.querySelectorAll('.samples').entries()) addTabs(samples, number);

// Browsers let pages copy at https and on this machine only.
if (navigator.clipboard !== undefined) for (const pre of document.querySelectorAll('main pre')) addCopy(pre);

/** @param {Element} pre */
function addCopy(pre) {
  const frame = make('div', { class: 'code' });
  const button = make('button', { type: 'button', class: 'copy' }, 'Copy');
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(pre.textContent ?? '');
      button.textContent = 'Copied';
    } catch {
      button.textContent = 'Not allowed';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, COPIED_MS);
  });
  pre.replaceWith(frame);
  frame.append(pre, button);
}

for (const heading of document.querySelectorAll('main h2[id], main h3[id]'))
  heading.append(make('a', { class: 'anchor', href: `#${heading.id}`, 'aria-label': 'Link to this section' }, '#'));

document.querySelector('#sidebar [aria-current]')?.scrollIntoView({ block: 'nearest' });

// "Try it" in place. For who is not signed in, and where anything goes wrong with it, the console has a page for it.

const tried = document.querySelector('a.try');
if (tried instanceof HTMLAnchorElement) tried.addEventListener('click', (event) => void tryHere(event, tried));

/** @param {MouseEvent} event @param {HTMLAnchorElement} link */
async function tryHere(event, link) {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  try {
    const { show } = await import(tryLibrary);
    const place = make('section', { class: 'trial', 'aria-label': 'Try it' });
    if (!(await show(link.href, place))) return location.assign(link.href);
    link.closest('p')?.replaceWith(place);
    /** @type {HTMLElement | null} */ (
      place.querySelector('input:not([type=hidden]), select, textarea, button')
    )?.focus();
  } catch {
    location.assign(link.href);
  }
}

// The search. Its library and its index are loaded when somebody first opens it.

/** @typedef {{ id: string, title: string, kind: string }} Found */

/** @type {Promise<(text: string) => Found[]> | null} */
let search = null;

/** @returns {Promise<(text: string) => Found[]>} */
async function loadSearch() {
  const [{ default: MiniSearch }, { indexOf, find }, answer] = await Promise.all([
    import(library),
    import(findLibrary),
    fetch(entriesAddress),
  ]);
  if (!answer.ok) throw new Error(`the index was answered with ${answer.status}`);
  const index = indexOf(MiniSearch, await answer.json());
  return (text) => find(index, text);
}

const dialog = /** @type {HTMLDialogElement} */ (make('dialog', { class: 'search', 'aria-label': 'Search' }));
const field = /** @type {HTMLInputElement} */ (
  make('input', {
    type: 'search',
    placeholder: 'Search',
    'aria-label': 'Search the documentation',
    autocomplete: 'off',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'results',
    spellcheck: 'false',
  })
);
const list = make('ul', { role: 'listbox', id: 'results', 'aria-label': 'Results' });
const status = make('p', { role: 'status' });
dialog.append(field, list, status);
document.body.append(dialog);
let selected = 0;

function open() {
  if (dialog.open) return;
  dialog.showModal();
  field.select();
  search ??= loadSearch();
  void show();
}

async function show() {
  const text = field.value.trim();
  try {
    const found = text === '' ? [] : (await /** @type {NonNullable<typeof search>} */ (search))(text);
    if (text === field.value.trim()) list.replaceChildren(...found.map(option));
    status.textContent =
      text === '' ? 'Type a question or a name.' : `${found.length === 0 ? 'No' : found.length} results`;
  } catch {
    search = null;
    list.replaceChildren();
    status.textContent = 'The search could not be loaded. Close it and try again.';
  }
  field.setAttribute('aria-expanded', String(list.childElementCount > 0));
  select(0);
}

/** @param {Found} entry @param {number} i */
function option({ id, title, kind }, i) {
  const item = make('li', { role: 'option', id: `result-${i}`, 'data-to': root + id });
  item.append(make('strong', {}, title), make('span', {}, kind));
  item.addEventListener('click', () => follow(item));
  item.addEventListener('pointermove', () => select(i));
  return item;
}

/** @param {number} at */
function select(at) {
  const items = [...list.children];
  selected = items.length === 0 ? 0 : (at + items.length) % items.length;
  for (const [i, item] of items.entries()) item.setAttribute('aria-selected', String(i === selected));
  const chosen = items[selected];
  if (chosen === undefined) field.removeAttribute('aria-activedescendant');
  else field.setAttribute('aria-activedescendant', chosen.id);
  chosen?.scrollIntoView({ block: 'nearest' });
}

/** @param {HTMLElement | undefined} item */
function follow(item) {
  if (item?.dataset.to === undefined) return;
  dialog.close();
  location.assign(item.dataset.to);
}

field.addEventListener('input', () => void show());
field.addEventListener('keydown', (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (by !== undefined) select(selected + by);
  else if (event.key === 'Escape') dialog.close();
  else if (event.key === 'Enter') follow(/** @type {HTMLElement | undefined} */ (list.children[selected]));
  else return;
  event.preventDefault();
});
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog) dialog.close();
});
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select') !== null;
  const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
  if (!isSlash && !(event.key === 'k' && (event.ctrlKey || event.metaKey))) return;
  event.preventDefault();
  open();
});

const button = document.querySelector('.find');
if (button instanceof HTMLElement) {
  button.hidden = false;
  button.addEventListener('click', open);
}
