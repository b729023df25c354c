import { describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { parse } from '../../../src/cli/app/run.ts';
import { OTHER_TOOLS } from '../../../src/general/other-tools.ts';
import { PROGRAM } from '../../../src/tree.ts';

async function mistake(line: string) {
  const error: unknown = await parse(line.split(' '), PROGRAM).catch((thrown: unknown) => thrown);
  if (!isSvcError(error, 'usage', 'refused_input')) throw new Error(`svc ${line} is understood`);
  return { next: (error.next ?? []).join(' '), message: error.message, hint: error.hint };
}

describe('a mistake on the command line', () => {
  it.each([
    ['lgos', "Did you mean 'logs'?", 'logs --help'],
    ['logs tial', "Did you mean 'tail'?", 'logs tail --help'],
    ['au sumbit t.csv --wait', "Did you mean 'submit'?", 'au submit --help'],
    ['3ds auth', "Did you mean 'authenticate'?", '3ds authenticate --help'],
    ['logs --limt 3', "Did you mean '--limit'?", 'logs --help'],
    ['logs list --sinc=2h', "Did you mean '--since'?", 'logs list --help'],
    ['au jobs --stat', "Did you mean '--status'?", 'au jobs --help'],
    ['logs -O json', "Did you mean '-o'?", 'logs --help'],
    ['logs -x', undefined, 'logs --help'],
    ['logs -o jsno', "Did you mean 'json'?", 'logs --help'],
    ['3ds create --token x --type custmer', "Did you mean 'customer'?", '3ds create --help'],
    ['logs --time never', undefined, 'logs --help'],
    ['--vesion', "Did you mean '--version'?", '--help'],
    ['nothing-like-it', undefined, '--help'],
    ['tenant rename', undefined, 'tenant --help'],
    ['logs card', undefined, 'logs --help'],
    ['logs history x y', undefined, 'logs history --help'],
    ['logs --api-key x', 'No option takes a key, because process lists show options.', 'login --help'],
    ['help au sbmit', "Did you mean 'submit'?", 'help au submit'],
    ['help lgos -o table', "Did you mean 'logs'?", 'help logs'],
    ['help exit-code', "Did you mean 'exit-codes'?", 'help exit-codes'],
    ['help exit-codes logs', undefined, 'help exit-codes'],
    ['help UPD_PAN', "To look up a word of the service, use 'svc explain'.", 'help'],
    ['logs --outptu json', "Did you mean '--output'?", 'logs --help'],
    ['3ds template payment-transactoin', "Did you mean 'payment-transaction'?", '3ds template --help'],
    ['au submit a.csv b.csv --cycle 2026-12', 'It takes one <file>: run it once for each.', 'au submit --help'],
    ['au refresh a.csv b.csv', 'It takes one <export>: run it once for each.', 'au refresh --help'],
    ['au next a.csv b.csv c.csv', undefined, 'au next --help'],
    ['logs verify a b', 'It takes one <dir>: run it once for each.', 'logs verify --help'],
    ['au status 2026-11 2026-12', undefined, 'au status --help'],
    ['au submit tokens.csv -n', undefined, 'au submit --help'],
    ['tenant show -f json', undefined, 'tenant show --help'],
    ['logs --since yesterdy', "Did you mean 'yesterday'?", 'logs --help'],
    ['logs --since 1764000000', 'Write @ before seconds since 1970.', 'logs --help'],
    ['sandbox exec --limit on -- true', "Did you mean '--limits'?", 'sandbox exec --help'],
  ])('svc %s is answered with the nearest name and the help: %s', async (line, hint, next) => {
    expect(await mistake(line)).toMatchObject({ hint, next });
  });

  it.each([
    ['sandbox exec svc logs --limit 1', `unknown option "--limit" for 'svc sandbox exec'`],
    ['sandbox exec svc logs -o csv', "an option of the command to run was taken for one of 'svc sandbox exec'"],
    ['sandbox exec npm run x -- --y', "an option of the command to run was taken for one of 'svc sandbox exec'"],
  ])('svc %s is answered with where the command belongs: after --', async (line, message) => {
    const hint = 'Put the command to run, with its options, after --:';
    expect(await mistake(line)).toEqual({ message, hint, next: 'sandbox exec -- <command...>' });
  });

  it.each([
    ['logs --limit ten', '--limit must be a whole number of at least 1, not "ten"'],
    ['logs --limit 0', '--limit must be a whole number of at least 1'],
    ['logs --since', '--since needs a time: only entries since: 2h, 10:00, 2026-01-31'],
    ['logs -o', '--output needs a format: table, json, jsonl, csv, yaml'],
    ['logs --debug=1', '--debug takes no value'],
    ['au submit', '<file|-> is missing: a request file, or - for standard input'],
    ['help au sbmit', 'no help topic "sbmit"'],
    ['help exit-codes logs', 'unexpected word "logs" after the help topic exit-codes'],
  ])('svc %s is explained: %s', async (line, message) => {
    expect((await mistake(line)).message).toBe(message);
  });

  it.each(Object.entries(OTHER_TOOLS.commands))(
    'svc %s of another tool is answered with svc %s',
    async (typed, command) => {
      expect(await mistake(typed)).toMatchObject({ hint: `Did you mean 'svc ${command}'?`, next: `${command} --help` });
      const help = await parse([...command.split(' '), '--help'], PROGRAM);
      expect(help).toMatchObject({ kind: 'help', about: { words: command } });
    },
  );

  it.each(Object.entries(OTHER_TOOLS.options))('%s of another tool is answered with %s', async (typed, option) => {
    expect(await mistake(`logs ${typed}`)).toMatchObject({ hint: `Did you mean '${option}'?`, next: 'logs --help' });
  });

  it('an option of another tool is not answered with one that the command does not have', async () => {
    expect(await mistake('au check t.csv --entity x')).toMatchObject({ hint: undefined, next: 'au check --help' });
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'a word that every object inherits, %s, is no choice, command, setting or topic',
    async (word) => {
      for (const line of [
        `logs -o ${word}`,
        `logs --time ${word}`,
        `logs --${word}`,
        `completion install --shell ${word}`,
        word,
        `au ${word}`,
        `help ${word}`,
        `3ds template ${word}`,
      ])
        expect({ line, error: await mistake(line) }).toMatchObject({ line, error: { message: expect.any(String) } });
    },
  );
});

describe('a line that works as typed', () => {
  it.each([
    ['logs -o=csv', { globals: { output: 'csv' } }],
    ['logs -ocsv', { globals: { output: 'csv' } }],
    ['logs -n=5', { input: { limit: 5 } }],
    ['sandbox clock 6d', { input: { by: '6d' } }],
    ['sandbox clock +6d', { input: { by: '6d' } }],
    ['sandbox exec svc logs', { input: { command: ['svc', 'logs'] } }],
    ['sandbox exec -q -- svc logs -o csv -- x', { input: { command: ['svc', 'logs', '-o', 'csv', '--', 'x'] } }],
  ])('svc %s is understood', async (line, parsed) => {
    expect(await parse(line.split(' '), PROGRAM)).toMatchObject({ kind: 'run', ...parsed });
  });

  it.each([
    ['--help au submit', 'au submit'],
    ['-h au submit', 'au submit'],
    ['--sandbox --help logs tail', 'logs tail'],
  ])('svc %s is the help of svc %s', async (line, words) => {
    expect(await parse(line.split(' '), PROGRAM)).toMatchObject({ kind: 'help', about: { kind: 'command', words } });
  });

  it('seconds since 1970 are a time', async () => {
    const invocation = await parse(['logs', '--since', '@1764000000'], PROGRAM);
    const since: unknown = invocation.kind === 'run' ? invocation.input['since'] : undefined;
    expect(typeof since === 'function' && since(0)).toBe(1_764_000_000_000);
  });
});
