import type { Habits } from '../cli/app/habits.ts';

/** What people type out of habit with other tools, for commands without a group, and about profiles. */
export const GENERAL_HABITS: Habits = {
  commands: [
    ['config', 'profile'],
    ['config set', 'profile set <setting> <value>'],
    ['configure', 'login'],
    ['init', 'login'],
    ['auth refresh', 'login --rotate'],
    ['status', 'whoami'],
    ['get', 'api GET <path>'],
    ['delete', 'api DELETE <path>'],
    ['uninstall', 'reset', 'It removes what svc keeps; then remove svc with the package manager that installed it.'],
    ['upgrade', '', 'Update svc with the package manager that installed it.'],
    ['update', '', 'Update svc with the package manager that installed it.'],
    ['profile create', 'login --profile <name>'],
    ['completion sh', '', 'There is completion for bash, zsh, fish and powershell.'],
  ],
  options: [
    ['--method -X', [], 'The method is the first word: svc api POST <path>.'],
    ['--fix', [], 'svc changes nothing by itself: each problem is shown with its fix.'],
  ],
  extraWords: [
    ['api', 'api <method> <path> --file -', 'A body comes from a file or from standard input, or is made with --set.'],
    ['doctor', 'doctor --profile <name>'],
    ['login', 'login --profile <name>'],
    ['logout', 'logout --profile <name>'],
    ['reset', 'reset --dry-run', 'reset removes everything.'],
    ['whoami', 'whoami --profile <name>'],
  ],
};
