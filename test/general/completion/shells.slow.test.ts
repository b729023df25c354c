import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Home, LAUNCHER } from '../../support/svc.ts';
import { TerminalSession } from '../../support/terminal.ts';
import { succeeded } from '../../support/run-here.ts';

/** How a shell starts without the user's settings, and what makes it find the files of `svc completion install`. */
interface Start {
  readonly args: readonly string[];
  readonly setUp: string;
}

const BASH_COMPLETION = '/usr/share/bash-completion/bash_completion';

const STARTS: Readonly<Record<string, Start>> = {
  bash: {
    args: ['--norc', '--noprofile', '-i'],
    setUp: [
      'bind "set bell-style none"; bind "set enable-bracketed-paste off"; PS1="> "',
      existsSync(BASH_COMPLETION)
        ? `source ${BASH_COMPLETION}`
        : 'source ~/.local/share/bash-completion/completions/svc',
    ].join('; '),
  },
  zsh: {
    args: ['-f', '-i'],
    setUp: 'PS1="> "; unsetopt beep; fpath+=(~/.zfunc); autoload -Uz compinit; compinit -u -d ~/.zcompdump',
  },
  fish: { args: ['-i'], setUp: 'function fish_prompt; echo "> "; end' },
};

/** The text typed before TAB, and the expected line after it, or the expected list after two TABs. */
type Case = readonly [typed: string, shown: RegExp];

const EVERYWHERE: readonly Case[] = [
  ['svc tena', /svc tenant/],
  ['svc logs --entity-t', /--entity-type/],
  ['svc --profile pr', /--profile prod/],
  ['svc logs --output=y', /--output=yaml/],
  ['svc logs "--output=y', /"--output=yaml"/],
  ['svc logs --fields oper', /--fields operation/],
  ['svc logs --fields=operation,crea', /--fields=operation,created_at/],
  ['svc --sandbox logs --entity-type ban', /--entity-type bank/],
  ['svc logs --entity-type "ban', /--entity-type "bank"/],
  ['svc au submit to', /submit tokens\.csv/],
  ['svc au submit --out=to', /--out=tokens\.csv/],
  ['svc au submit wi', /submit with\\ space\.csv/],
  ['svc sandbox start --directory pla', /--directory place\//],
  // A service named these types: with a colon, at which bash splits words; a space; and a command that must not run.
  ['svc logs --entity-type a:', /--entity-type a(\\)?:bcd/],
  ['svc logs --entity-type $HO', /--entity-type \$HO/],
  ['svc logs --entity-type bla', /--entity-type blank(\\ | ')within/],
  [
    'svc logs --entity-type evil',
    /--entity-type (evil\\\$\\\(touch\\ pwned1\\\)|evil'\$\(touch pwned1\)'|'evil\$\(touch pwned1\)')/,
  ],
  // The user typed these words. Completion passes them on without evaluating them.
  ['svc logs $(touch pwned2) --gre', /pwned2\) --grep/],
  ['svc logs "$(touch pwned3)" --gre', /pwned3\)" --grep/],
  ["svc logs '$(touch pwned4)' --gre", /pwned4\)' --grep/],
  [String.raw`svc logs \$\(touch\ pwned5\) --gre`, /pwned5\\\) --grep/],
  ['svc logs a:b c=d --gre', /c=d --grep/],
  // Words of options that are put together.
  ["svc sandbox start --fault '503@DELETE /ten", /'503@DELETE \/tenants\/self/],
  ['svc sandbox outcome "status=failed,reason=stol', /"status=failed,reason=stolen-card/],
  ['svc sandbox exec -- svc tena', /exec -- svc tenant/],
  ['svc au prepare export.csv --map token=card', /--map token=card_id/],
  ["svc logs 'it is' \"a'b\" --gre", /"a'b" --grep/],
];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  bash: [
    ...EVERYWHERE,
    ['svc logs `touch pwned6', /pwned6/],
    ['svc logs --output=\t', /table +json +jsonl +csv +yaml/],
    ['svc profile \t', /show +use/],
    ['svc logs >to', />tokens\.csv/],
    ['true; A=1 svc tena', /A=1 svc tenant/],
  ],
  zsh: [
    ...EVERYWHERE,
    ['svc profile ', /use +-- choose the default profile/],
    ['svc logs > to', /> tokens\.csv/],
    ['svc logs `touch pwned6` --gre', /pwned6` --grep/],
  ],
  fish: [
    ...EVERYWHERE,
    ['svc profile ', /use +\(choose the default profile/],
    ['svc logs (touch pwned6) --gre', /pwned6\) --grep/],
  ],
};

const FILES = ['export.csv', 'place', 'tokens.csv', 'with space.csv'];

for (const [shell, start] of Object.entries(STARTS)) {
  const isHere = spawnSync(shell, ['--version']).status === 0;
  describe.skipIf(!isHere)(`completion in ${shell}${isHere ? '' : ', which is not installed here'}`, () => {
    completesIn(shell, start);
  });
}

function completesIn(shell: string, { args, setUp }: Start): void {
  let home: Home;
  let terminal: TerminalSession;
  let marks = 0;

  beforeAll(async () => {
    home = await furnishedHome();
    succeeded(await home.svc(['completion', 'install', '--shell', shell]));
    const path = [home.file('bin'), dirname(process.execPath), process.env['PATH']].join(':');
    const env = { HOME: home.path, PATH: path, TERM: 'xterm-256color' };
    terminal = new TerminalSession(shell, args, { columns: 120, rows: 40, cwd: home.file('work'), env });
    await fresh(terminal, setUp);
  });

  afterAll(async () => {
    // A shell that is killed could still write its history.
    terminal.type('\u0015exit\r');
    await terminal.exited;
  });

  it.each(CASES[shell] ?? [])('finishes `%s`', async (typed, shown) => {
    const mark = await fresh(terminal);
    terminal.type(`${typed}\t`);
    const found = await terminal.waitFor(new RegExp(`${mark}[^]*(?:${shown.source})`));
    expect(found.slice(found.lastIndexOf(mark))).not.toMatch(/command not found|Unknown command|no such file/i);
    expect(readdirSync(home.file('work')).toSorted()).toEqual(FILES);
  });

  // Clears the line, runs another one, and waits for its output. It clears with Ctrl-U, since Ctrl-C could come too
  // early and let the line run.
  async function fresh(session: TerminalSession, line = 'true'): Promise<string> {
    const mark = `mark-${(marks += 1)}-here`;
    session.type('\u0015');
    session.type(`${line}; echo ${mark.replace('-', "''-")}\r`);
    await session.waitFor(new RegExp(`^${mark}$`, 'm'));
    return mark;
  }
}

async function furnishedHome(): Promise<Home> {
  const home = new Home();
  // Without this directory, fish starts to read every manual page of the machine.
  const fish = '.local/share/fish/generated_completions';
  for (const directory of ['bin', 'work/place', '.config/svc', '.cache/svc', fish])
    mkdirSync(home.file(directory), { recursive: true });
  symlinkSync(LAUNCHER, home.file('bin/svc'));
  for (const name of FILES.slice(2)) writeFileSync(home.file(`work/${name}`), '');
  writeFileSync(home.file('work/export.csv'), 'card_id;valid_to\n');
  const config = { version: 1, profiles: { prod: { base_url: 'https://api.example.com' } } };
  writeFileSync(home.file('.config/svc/config.json'), JSON.stringify(config), { mode: 0o600 });
  const told = ['a:bcd', 'blank within', 'evil$(touch pwned1)'].map((type) => [type, '']);
  writeFileSync(home.file('.cache/svc/entity-types.json'), JSON.stringify({ version: 1, services: { x: told } }));
  return home;
}
