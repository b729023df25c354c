import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory } from './directory.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** A directory and a home in which tests run the commands of a document, with `svc` on the PATH. */
export interface ShellHome {
  readonly directory: string;
  /** Runs a script with bash, which ends at the first command that fails. It may take ten minutes. */
  run(script: string, env?: Readonly<Record<string, string>>): { status: number | null; stderr: string };
}

/** Creates such a directory, with these files and folders of the project in it. */
export function openShellHome(names: readonly string[] = []): ShellHome {
  const directory = temporaryDirectory();
  for (const name of names) symlinkSync(join(project, name), join(directory, name));
  const home = join(directory, '.home');
  mkdirSync(join(home, 'bin'), { recursive: true });
  const svc = join(home, 'bin/svc');
  writeFileSync(svc, `#!/bin/sh\nexec '${process.execPath}' '${join(project, 'bin/svc.js')}' "$@"\n`);
  chmodSync(svc, 0o755);
  const path = [join(home, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter);
  return {
    directory,
    run: (script, env = {}) =>
      spawnSync('bash', ['-eu', '-o', 'pipefail', '-c', script], {
        cwd: directory,
        encoding: 'utf8',
        timeout: 600_000,
        env: { HOME: home, PATH: path, CI: 'true', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
  };
}
