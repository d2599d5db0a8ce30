// Optional packages of package.json: large, and few need them.

/** What is thrown where one is needed and not there. */
export const notInstalled = (name: string, cause?: unknown): Error =>
  new Error(`the optional package ${name} is not installed: run npm install ${name}`, { cause });
