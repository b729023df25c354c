import { type Command, defineCommand } from '../../cli/command.ts';
import type { Shell } from '../../completion/shell.ts';

/** `svc completion bash`, and so on for each shell */
export function printCommand({ name, script }: Shell): Command {
  return defineCommand({
    name,
    summary: `the script for ${name}`,
    description: 'Prints the script and changes nothing. It stays good when svc is updated.',
    examples: [[EXAMPLES[name] ?? `svc completion ${name}`, 'in this shell only']],
    anySettings: true,
    parameters: {},
    async run(context) {
      await context.out.write(script);
    },
  });
}

const EXAMPLES: Readonly<Record<string, string>> = {
  bash: 'source <(svc completion bash)',
  zsh: 'source <(svc completion zsh)',
  fish: 'svc completion fish | source',
  powershell: 'svc completion powershell | Out-String | Invoke-Expression',
};
