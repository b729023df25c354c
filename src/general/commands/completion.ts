import { defineCommand } from '../../cli/app/command.ts';
import { argument } from '../../cli/app/parameter.ts';
import { SHELLS } from '../completion/shells.ts';

export const completion = defineCommand({
  description:
    'Prints the script and changes nothing. Write it where your shell looks for completions, or load it in the file that starts the shell. There is no need to print it again after upgrades.',
  examples: [
    ['source <(svc completion bash)', 'in this bash only'],
    ['svc completion bash > ~/.local/share/bash-completion/completions/svc', 'for bash, with bash-completion'],
    ['svc completion zsh > ~/.zfunc/_svc', 'for zsh, with fpath+=(~/.zfunc) before compinit in .zshrc'],
    ['svc completion fish > ~/.config/fish/completions/svc.fish', 'for fish'],
    ['svc completion powershell | Out-String | Invoke-Expression', 'for PowerShell, at the end of your profile'],
  ],
  anySettings: true,
  onlyPrints: true,
  parameters: {
    shell: { ...argument('<shell>', 'the shell to complete in'), choices: SHELLS.map(({ name }) => name) },
  },
  async run(context, { shell }) {
    await context.out.write(SHELLS.find(({ name }) => name === shell)?.script() ?? '');
  },
});
