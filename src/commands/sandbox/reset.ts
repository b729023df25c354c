import { defineCommand } from '../../cli/command.ts';
import { resolvePath } from '../../cli/files.ts';
import { value } from '../../cli/parameter.ts';
import { sandboxDirectory } from '../../cli/sandbox-directory.ts';
import { text } from '../../cli/values.ts';

/** `svc sandbox reset` */
export const reset = defineCommand({
  name: 'reset',
  summary: 'forget everything that happened in the sandbox',
  examples: [['svc sandbox reset --yes', 'jobs, files and logs begin anew']],
  parameters: {
    directory: value('--directory <dir>', 'where its state is; by default the one that --sandbox uses', text),
  },
  async run(context, input) {
    const directory =
      input.directory === undefined ? sandboxDirectory(context) : resolvePath(context, input.directory);
    const agreed = await context.prompts.confirm(
      'Forget all jobs, files and logs of the sandbox?',
      'Pass --yes.',
    );
    if (!agreed) return context.notices.note('nothing was forgotten');
    const { resetSandbox } = await import('../../sandbox/state/directory.ts');
    resetSandbox(directory);
    context.notices.note('the sandbox begins anew');
  },
});
