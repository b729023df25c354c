import fs from 'node:fs';
import { defineCommand } from '../../cli/app/command.ts';
import { isOwnSandbox, sandboxLedger } from '../../cli/app/embedded-sandbox.ts';
import { directoryParameter, directoryToReset, requireThere } from '../server-options.ts';

export const reset = defineCommand({
  description:
    'Deletes all state of the sandbox. It then has a new tenant: a file that was submitted before can be submitted again, and an archive of the old tenant takes no logs of the new one.',
  examples: [['svc sandbox reset --yes', 'delete its jobs, files and logs']],
  parameters: { directory: directoryParameter },
  async run(context, input) {
    const directory = await directoryToReset(context, input.directory);
    requireThere(directory, input.directory);
    const question = `Reset the sandbox in ${directory}? Its jobs, files and logs are deleted.`;
    const again = input.directory === undefined ? ['sandbox', 'reset', '--yes'] : undefined;
    await context.prompts().confirm(question, 'nothing was reset', again);
    const { resetSandbox } = await import('../../emulator/state/journal.ts');
    resetSandbox(directory);
    // The ledger is deleted too, since rows of deleted jobs must not count as paid for.
    if (isOwnSandbox(context, directory)) fs.rmSync(sandboxLedger(context), { recursive: true, force: true });
    context.notices.success('sandbox reset: it has a new tenant, so that no earlier job or archive belongs to it');
  },
});
