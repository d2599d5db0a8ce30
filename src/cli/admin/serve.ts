import { Command } from 'commander';

export function serveCommand(): Command {
  return new Command('serve')
    .description(
      'Run the service in the foreground, as `npm start` and `npx quartermaster` do. Settings come from the environment.',
    )
    .option('--json', 'accepted for uniformity: the log is JSON already')
    .action(async () => {
      process.setSourceMapsEnabled(true);
      // Loaded only here: the other commands need no HTTP server.
      const { serve } = await import('../../serve.ts');
      await serve();
    });
}
