// Single-page applications, each as its framework's build sends it: a shell without content, and a script that draws it. The scripts are ours:
// they draw as frameworks do, after an answer of the site, and text of the page stands in no file that a reader without scripts gets.
const FACT = 'Ferries to Skerry leave at 09:40, and cost 12.50.';

/** What is on the page once it is drawn. */
export const DRAWN_FACT = FACT;

const sentences = `${FACT} Dogs travel free on the lower deck, and bicycles need a ticket of their own.`;

/** Draws `html` into the element, once the site has answered. */
const drawing = (selector: string, html: string) =>
  `fetch('/api/ferries').then((answer) => answer.json()).then(({ text }) => { document.querySelector('${selector}').innerHTML = \`${html}\`; });`;
// biome-ignore lint/suspicious/noTemplateCurlyInString: of the script
const article = '<header>Skerry Lines</header><main><h1>Ferries</h1><p>${text}</p></main>';

export interface Application {
  readonly name: string;
  readonly html: string;
  /** Of `/assets/app.js`. */
  readonly script: string;
}

export const applications: readonly Application[] = [
  {
    name: 'React by Vite',
    html: `<!doctype html><html lang="en"><head><meta charset="UTF-8" /><link rel="icon" type="image/svg+xml" href="/vite.svg" /><meta name="viewport" content="width=device-width, initial-scale=1.0" /><title>Ferries</title><script type="module" crossorigin src="/assets/app.js"></script><link rel="stylesheet" crossorigin href="/assets/index-C4d1.css"></head><body><div id="root"></div></body></html>`,
    script: drawing('#root', article),
  },
  {
    name: 'Create React App',
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8"/><meta name="theme-color" content="#000000"/><title>React App</title><script defer="defer" src="/assets/app.js"></script></head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div></body></html>`,
    script: drawing('#root', article),
  },
  {
    name: 'Vue CLI',
    html: `<!doctype html><html lang=""><head><meta charset="utf-8"><title>ferries</title><script defer src="/assets/app.js"></script></head><body><noscript><strong>We're sorry but ferries doesn't work properly without JavaScript enabled. Please enable it to continue.</strong></noscript><div id="app"></div></body></html>`,
    script: drawing('#app', article),
  },
  {
    name: 'Angular CLI',
    html: `<!doctype html><html lang="en" data-beasties-container><head><meta charset="utf-8"><title>Ferries</title><base href="/"><style>body{margin:0}</style></head><body><app-root></app-root><script src="/polyfills.js" type="module"></script><script src="/assets/app.js" type="module"></script></body></html>`,
    script: drawing('app-root', article),
  },
  {
    name: 'SvelteKit without server rendering',
    html: `<!doctype html><html lang="en"><head><meta charset="utf-8" /><link rel="modulepreload" href="/assets/app.js"></head><body data-sveltekit-preload-data="hover"><div style="display: contents"><script>{ __sveltekit_1 = { base: "" }; import("/assets/app.js"); }</script></div></body></html>`,
    script: drawing('div', article),
  },
  {
    name: 'Nuxt with ssr: false',
    html: `<!doctype html><html><head><meta charset="utf-8"><script type="module" src="/assets/app.js" crossorigin></script></head><body><div id="__nuxt"></div><div id="teleports"></div><script>window.__NUXT__={};window.__NUXT__.config={public:{},app:{baseURL:"/"}}</script><script type="application/json" data-nuxt-data="nuxt-app" id="__NUXT_DATA__">[{"serverRendered":1},false]</script></body></html>`,
    script: drawing('#__nuxt', article),
  },
  {
    name: 'a loading screen, a notice of cookies and a footer around the application',
    html: `<!doctype html><html lang="en"><head><title>Ferries</title><script src="https://tags.example.com/tag.js" async></script></head><body><div class="cookies"><p>We use cookies to make this site work, and to count its visitors. By going on you agree to them.</p><button>Agree</button></div><div id="app-root"><div class="spinner"></div><p>Loading the timetable…</p></div><footer><a href="/about">About us</a> <a href="/terms">Terms</a> <a href="/privacy">Privacy</a><p>Skerry Lines Ltd, Pier 4, Skerry Point. All rights reserved.</p></footer><script src="/assets/app.js"></script></body></html>`,
    script: drawing('#app-root', article),
  },
  {
    name: 'web components with shadow roots',
    html: `<!doctype html><html lang="en"><head><title>Ferries</title><script type="module" src="/assets/app.js"></script></head><body><ferry-table></ferry-table></body></html>`,
    script: `customElements.define('ferry-table', class extends HTMLElement {
      async connectedCallback() {
        const root = this.attachShadow({ mode: 'open' });
        const { text } = await (await fetch('/api/ferries')).json();
        root.innerHTML = '<main><h1>Ferries</h1><ferry-row></ferry-row></main>';
        customElements.define('ferry-row', class extends HTMLElement {
          connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<p>' + text + '</p>'; }
        });
      }
    });`,
  },
  {
    name: 'a page that a script leads on from',
    html: `<!doctype html><title>One moment</title><script src="/assets/app.js"></script><body><p>You are being redirected…</p></body>`,
    script: `if (location.pathname !== '/led') location.replace('/led');`,
  },
  {
    name: 'Docsify, which fetches its Markdown',
    html: `<!DOCTYPE html><html lang="en"><head><meta charset="UTF-8"><title>Document</title><meta name="description" content="Description"><link rel="stylesheet" href="//cdn.example.com/vue.css"></head><body><div id="app">Please wait…</div><script>window.$docsify = { name: '', repo: '' }</script><script src="/assets/app.js"></script></body></html>`,
    script: drawing('#app', `<article class="markdown-section"><h1>Ferries</h1><p>\${text}</p></article>`),
  },
];

/** What the scripts fetch. */
export const FERRIES = JSON.stringify({ text: sentences });
/** Where a page leads on to. */
export const LED = `<!doctype html><html lang="en"><title>Ferries</title><main><h1>Ferries</h1><p>${sentences}</p></main></html>`;
