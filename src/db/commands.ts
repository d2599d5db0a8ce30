// SQL files as single commands.

// Comments, strings, quoted names, bodies in dollars; then the end of a command and everything else.
const PIECE =
  /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"[^"]*"|\$((?:[A-Za-z_]\w*)?)\$[\s\S]*?\$\1\$|;|[^-/'"$;]+|[\s\S]/g;

/** The commands of `text`, in order, with the comments before each. Strings with backslashes (`E'\''`) and BEGIN ATOMIC are not read. */
export function commandsOf(text: string): string[] {
  const commands = [''];
  for (const [piece] of text.matchAll(PIECE)) {
    if (piece === ';') commands.push('');
    else commands.push((commands.pop() ?? '') + piece);
  }
  return commands.map((command) => command.trim()).filter((command) => command !== '');
}
