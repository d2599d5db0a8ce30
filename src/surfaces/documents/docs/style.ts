// The one stylesheet of the documentation; light and dark follow the reader's system.

export const docsStyle = `:root { color-scheme: light dark; --ink: #1c2024; --quiet: #5b6570; --paper: #ffffff; --shade: #f4f6f8; --line: #dde2e7; --accent: #0b62c4; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8eb; --quiet: #9aa4ae; --paper: #14171a; --shade: #1d2125; --line: #30363c; --accent: #6cb2ff; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; padding: .9rem 1.25rem; border-bottom: 1px solid var(--line); }
header .name { font-weight: 650; color: var(--ink); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1.1rem; }
main { max-width: 64rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.25; margin: .5rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .75rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.5rem 0 .5rem; }
p { max-width: 46rem; margin: 0 0 1rem; }
a { color: var(--accent); text-decoration: none; }
a:hover { text-decoration: underline; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font: .875em/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--shade); border-radius: 4px; padding: .1em .35em; overflow-wrap: anywhere; }
pre { background: var(--shade); border: 1px solid var(--line); border-radius: 6px; padding: .9rem 1rem; overflow-x: auto; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.scroll { overflow-x: auto; margin: 0 0 1rem; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem .5rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; white-space: nowrap; }
td { min-width: 4.5rem; }
td:last-child { min-width: 14rem; }
.route { font-size: 1.05rem; }
.quiet { color: var(--quiet); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.25rem; margin: 0 0 1rem; }
dt { color: var(--quiet); }
dd { margin: 0; }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .5rem; } }
`;
