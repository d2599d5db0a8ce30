// The stylesheet of all pages, which the console's own extends. Light and dark follow the reader's system, or the page's setting. Pages allow
// it, and no other style, by its hash.

const light = `--ink: #1c2024; --quiet: #5b6570; --paper: #ffffff; --shade: #f4f6f8; --line: #dde2e7; --accent: #0b62c4;
--bar: #3d7fd0; --none: #dde2e7; --here: #fff3d1; --red: #a4161a; --red-shade: #fdeaea; --amber: #7a4a00; --amber-shade: #fff1d6; --blue: #0b549f; --blue-shade: #e5f0fc; --green: #14622f; --green-shade: #e3f5e9; --lift: 0 4px 16px #1c202426;`;
const dark = `--ink: #e6e8eb; --quiet: #9aa4ae; --paper: #14171a; --shade: #1d2125; --line: #30363c; --accent: #6cb2ff;
--bar: #5b9ce6; --none: #30363c; --here: #3d3414; --red: #ff9d97; --red-shade: #401c1d; --amber: #f5c06a; --amber-shade: #3b2b0e; --blue: #8cc3ff; --blue-shade: #152c47; --green: #85d8a0; --green-shade: #14341f; --lift: 0 4px 16px #000a;`;

export const consoleStyle = `:root { color-scheme: light dark; ${light} }
@media (prefers-color-scheme: dark) { :root { ${dark} } }
:root[data-theme=light] { color-scheme: light; ${light} }
:root[data-theme=dark] { color-scheme: dark; ${dark} }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
.top { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; justify-content: space-between; padding: .7rem 1.25rem; border-bottom: 1px solid var(--line); }
.top p { margin: 0; font-weight: 650; }
main { max-width: 80rem; margin: 0 auto; padding: 1.25rem 1.25rem 4rem; }
body.single { min-height: 100vh; background: var(--shade); }
.single .top { border-bottom: 0; }
.brand { display: flex; align-items: center; gap: .55rem; }
.brand svg { width: 1.5rem; height: 1.5rem; flex: none; }
main.narrow { max-width: 28rem; margin: 6vh auto 3rem; padding: 1.75rem 2rem 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: 12px; box-shadow: var(--lift); }
main.narrow > h1:first-child { margin-top: 0; }
main.narrow > .facts { margin: 1rem 0; }
.wide { display: block; width: 100%; padding: .55rem .9rem; text-align: center; border: 1px solid var(--quiet); border-radius: 6px; color: var(--ink); font-weight: 600; text-decoration: none; }
button.wide.main { margin-right: 0; }
.or { display: flex; align-items: center; gap: .75rem; margin: 1.5rem 0; color: var(--quiet); font-size: .875rem; }
.or::before, .or::after { content: ""; flex: 1; border-top: 1px solid var(--line); }
h1 { font-size: 1.5rem; line-height: 1.3; margin: .6rem 0 .4rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 .7rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.1rem 0 .3rem; }
p { margin: 0 0 .8rem; }
a { color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.quiet { color: var(--quiet); font-weight: 400; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.facts { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: .35rem 1.25rem; margin: 0; }
.facts dt { line-height: 1.55rem; }
.facts dd { margin: 0; }
.facts dd .quiet { display: block; font-size: .875rem; }
code, pre { font: .8125rem/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { margin: .4rem 0; padding: .6rem .75rem; background: var(--shade); border: 1px solid var(--line); border-radius: 6px; overflow-wrap: normal; tab-size: 4; }
.scroll { overflow: auto; max-height: 32rem; }
.text { white-space: pre-wrap; }
.plain { list-style: none; margin: 0; padding: 0; }
summary { padding: .35rem 0; cursor: pointer; color: var(--accent); font-size: .875rem; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-weight: 600; font-size: .875rem; }
tbody th { font-weight: 400; }
.card { border: 1px solid var(--line); border-radius: 6px; padding: .6rem .75rem; margin-bottom: .6rem; }
.card p { margin: 0 0 .2rem; font-size: .875rem; }
.plain > li:not(.card) { padding: .25rem 0; }
label { display: block; font-weight: 600; margin-bottom: .3rem; }
input, select { width: 100%; font: inherit; padding: .5rem .65rem; color: var(--ink); background: var(--paper); border: 1px solid var(--quiet); border-radius: 6px; }
input[type=radio], input[type=checkbox] { width: auto; margin: 0 .6rem 0 0; }
main.narrow > form > label:not(.choice) { margin-top: .9rem; }
main > form > input, main > form > fieldset { max-width: 34rem; }
fieldset { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; padding: .5rem .9rem .7rem; }
legend { font-weight: 600; padding: 0 .35rem; }
a.main { display: inline-block; padding: .5rem 1.1rem; border-radius: 6px; background: var(--accent); color: var(--paper); font-weight: 600; text-decoration: none; }
label.choice .quiet { white-space: nowrap; }
label.choice { display: flex; align-items: center; font-weight: 400; margin: 0; padding: .35rem 0; }
.pick { display: flex; align-items: center; justify-content: space-between; gap: .6rem; padding: .2rem 0; }
.pick label { font-weight: 400; margin: 0; }
.pick select { width: 11rem; max-width: 60%; }
.notice { padding: .6rem .75rem; border-radius: 6px; background: var(--amber-shade); color: var(--amber); }
button { font: inherit; font-size: .9375rem; padding: .4rem .9rem; border-radius: 6px; border: 1px solid var(--quiet); background: var(--paper); color: var(--ink); cursor: pointer; }
button.main { margin: .9rem .5rem 0 0; background: var(--accent); border-color: var(--accent); color: var(--paper); font-weight: 600; }
button.main + button, main.narrow > form + p { margin-top: .9rem; }
.failure { padding: .6rem .75rem; border-radius: 6px; background: var(--red-shade); color: var(--red); }
h1 + .notice, h1 + .agreed, h1 + .failure { margin-top: .8rem; }
.agreed { padding: .6rem .75rem; border-radius: 6px; background: var(--green-shade); color: var(--green); }
main.narrow .hint, main.narrow .fault { margin: .2rem 0 0; color: var(--quiet); font-size: .875rem; }
main.narrow .fault { color: var(--red); }
main.narrow .facts.brief { grid-template-columns: max-content minmax(0, 1fr); gap: .2rem 1.25rem; }
main.narrow .facts.brief dd { margin: 0; }
.plain + .quiet, form + .quiet { margin-top: 1.2rem; }
button.wide.refuse { margin-top: .9rem; border-color: var(--red); color: var(--red); }
@media (max-width: 36rem) { body { font-size: 15px; } body.single { background: var(--paper); } .top { padding: .6rem 1rem; } main { padding: 1rem 1rem 3rem; } main.narrow { margin: 0; max-width: none; padding: 1.25rem 1rem 3rem; border: 0; border-radius: 0; box-shadow: none; } .facts { grid-template-columns: minmax(0, 1fr); gap: 0; } .facts dd { margin-bottom: .5rem; } }
`;
