import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isInstalled } from '../../../src/base/files/names.ts';
import { type Block, commandsOf, readBlocks } from '../../support/readme-blocks.ts';
import { startSandboxHere } from '../../support/run-here.ts';
import { finished, type Finished, Home, LAUNCHER } from '../../support/svc.ts';

/** The programs of the secret managers for which docs/settings.md has recipes. */
const SECRET_MANAGERS = ['secret-tool', 'pass', 'op', 'vault', 'aws', 'security'];

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url));
const recipes = readBlocks(readFileSync(join(docs, 'settings.md'), 'utf8'));

/** Programs in place of those that need an account or another system. They accept only what their manuals describe. */
const STAND_INS: Readonly<Record<string, string>> = {
  op: `case "$*" in 'read op://Private/svc/credential') echo sandbox-management-key;; *) exit 1;; esac`,
  vault: `case "$*" in
    'kv put -mount=secret svc/management key=-') cat > "$HOME/vault";;
    'kv get -mount=secret -field=key svc/management') cat "$HOME/vault";;
    *) exit 1;; esac`,
  aws: `case "$*" in
    'secretsmanager create-secret --name svc/management --secret-string file:///dev/stdin') cat > "$HOME/aws";;
    'secretsmanager get-secret-value --secret-id svc/management --query SecretString --output text') cat "$HOME/aws";;
    *) exit 1;; esac`,
  security: `case "$*" in
    'add-generic-password -s svc -a management -w') cat > "$HOME/security";;
    'find-generic-password -s svc -a management -w') cat "$HOME/security";;
    *) exit 1;; esac`,
};

/** Commands that prepare a real secret manager in an empty home. */
const PREPARATIONS: Readonly<Record<string, string>> = {
  'secret-tool': `printf test | gnome-keyring-daemon --unlock --components=secrets > /dev/null`,
  pass: `trap 'gpgconf --kill all' EXIT
gpg --batch --quiet --passphrase '' --quick-generate-key svc@example.com default default never
pass init svc@example.com > "$HOME/pass"`,
};

function recipeOf(program: string): Block {
  const found = recipes.find(({ marks }) => marks[0] === program);
  if (found === undefined) throw new Error(`docs/settings.md has no recipe for ${program}`);
  return found;
}

function canRun(program: string): boolean {
  const needs = { 'secret-tool': ['dbus-run-session', 'gnome-keyring-daemon'], pass: ['gpg'] }[program] ?? [];
  return program in STAND_INS || [program, ...needs].every((name) => isInstalled(name, process.env));
}

/** A home in which the recipes run, with `svc` and the stand-ins on the PATH, and a sandbox as the service. */
async function openHome() {
  const home = new Home();
  const bin = home.file('bin');
  mkdirSync(bin);
  for (const [name, script] of Object.entries({ ...STAND_INS, svc: `exec '${process.execPath}' '${LAUNCHER}' "$@"` })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { baseUrl } = await startSandboxHere();
  const env = home.environment({
    PATH: [bin, process.env['PATH']].join(delimiter),
    SVC_BASE_URL: baseUrl.href,
    SVC_CONFIG_DIR: home.path,
    XDG_RUNTIME_DIR: home.path,
    GNUPGHOME: home.path,
  });
  return {
    config: (): string => readFileSync(home.file('config.json'), 'utf8'),
    run: async (program: string, script: string): Promise<Finished> => {
      const words = ['bash', '--norc', '-eu', '-o', 'pipefail', '-c', script];
      const [first = '', ...rest] = program === 'secret-tool' ? ['dbus-run-session', '--', ...words] : words;
      const child = spawn(first, rest, { cwd: home.path, env, stdio: ['pipe', 'pipe', 'pipe'] });
      // pass asks twice; svc takes the first line of what a command prints.
      child.stdin.end('sandbox-management-key\nsandbox-management-key\n');
      return finished(child);
    },
  };
}

describe('the recipes for secret managers', () => {
  for (const program of SECRET_MANAGERS)
    it.skipIf(!canRun(program))(
      `${program} keeps the key by its recipe, and svc reads it from there (skipped where it is not installed)`,
      async () => {
        const { run, config } = await openHome();
        const script = [PREPARATIONS[program] ?? '', recipeOf(program).text, 'svc whoami -o json'].join('\n');
        const { code, stdout, stderr } = await run(program, script);
        expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
        expect(JSON.parse(stdout.slice(stdout.indexOf('{')))).toMatchObject({
          management_key: { state: 'accepted', from: `profile default (command ${program})` },
        });
        expect(config()).toContain(program);
        expect(config()).not.toContain('sandbox-management-key');
      },
    );

  it('a recipe that reads another entry than it stored fails', async () => {
    const { run } = await openHome();
    const text = recipeOf('vault').text.replace('-field=key', '-field=other');
    expect(await run('vault', text)).toMatchObject({ code: 3, stderr: expect.stringContaining('command vault') });
  });

  it('svc help security names the commands of each recipe', () => {
    const page = readFileSync(join(docs, 'help/security.md'), 'utf8').replaceAll(/\s+/g, ' ');
    for (const program of SECRET_MANAGERS) {
      const stores = commandsOf(recipeOf(program)).filter((line) => line.startsWith(`${program} `));
      const reads = commandsOf(recipeOf(program)).flatMap((line) => /-key-command '(.+)'$/.exec(line)?.[1] ?? []);
      expect(reads).toHaveLength(1);
      for (const command of [...stores, ...reads]) expect(page).toContain(`\`${command}\``);
    }
  });
});
