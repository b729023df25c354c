import { defineCommand } from '../../cli/app/command.ts';
import { listPrinter } from '../../cli/app/print.ts';
import { parameters, searchArchive } from '../archive/search-archive.ts';
import { actorNames } from '../options.ts';
import { logView } from '../view.ts';

export const search = defineCommand({
  description:
    'Entries come oldest first; those without a readable time come last, and only without --since and --until. Each file that is read is checked against the manifest. Works offline without --live.',
  examples: [
    ['svc logs search audit --since 90d --entity-type card --operation delete', 'deletions of a quarter'],
    [
      'svc logs search audit --since 2026-01-31 --until 2026-02-01 --live -o csv --excel-safe',
      'a day, for a spreadsheet',
    ],
    ['svc logs search audit --actor 3f2c… --grep "token .* read"', 'what an actor read, at any time'],
  ],
  exitCodes: [4, 5, 7, 8, [12, 'a file of the archive was changed or is damaged']],
  fields: logView.fields,
  parameters,
  async run(context, input) {
    const actors = await actorNames(context, 'archive');
    const print = await listPrinter(context, actors?.view ?? logView);
    await searchArchive(context, input, print, actors);
  },
});
