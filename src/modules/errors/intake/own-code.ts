// Whether a stack frame is of a program's own code, for frames that do not say so: by its file. Files of packages, of a virtual environment and
// of the runtime are not.
const FOREIGN = new RegExp(
  [
    // npm, pnpm, yarn; pip; bundler; composer, Go's vendored modules and its cache
    String.raw`(?:^|[\\/])(?:node_modules|\.pnpm|\.yarn|site-packages|dist-packages|\.bundle|vendor[\\/]bundle|pkg[\\/]mod)[\\/]`,
    String.raw`(?:^|[\\/])gems[\\/][^\\/]+-\d`,
    // Node, Deno, Python's and Rust's own files
    '^(?:node|internal|deno|ext):',
    String.raw`^internal[\\/].*\.js$`,
    String.raw`[\\/]lib[\\/]python\d(?:\.\d+)?[\\/]`,
    String.raw`^[\\/]rustc[\\/]|[\\/]\.cargo[\\/]registry[\\/]`,
    String.raw`^<(?:anonymous|frozen [\w.]+)>$`,
  ].join('|'),
);

export function isOwnCode(file: string): boolean {
  return !FOREIGN.test(file);
}
