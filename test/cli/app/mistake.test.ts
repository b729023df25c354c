import { describe, expect, it } from 'vitest';
import { parse } from '../../../src/cli/app/run.ts';
import { PROGRAM } from '../../../src/tree.ts';

async function mistake(line: string): Promise<unknown> {
  return parse(line.split(' '), PROGRAM).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe('a mistake on the command line', () => {
  it.each([
    ['lgos', 'logs'],
    ['logs tial', 'logs tail'],
    ['listen', 'events listen'],
    ['challenge-result', '3ds challenge-result <session>'],
    ['3ds auth', '3ds authenticate <session>'],
    ['sandbox faults', 'help faults'],
    ['logs --limt 3', 'logs --limit 3'],
    ['logs --from 2h', 'logs --since 2h'],
    ['logs list --from 2h', 'logs list --since 2h'],
    ['logs tail --tail 20', 'logs tail --last 20'],
    ['logs --no-color', 'logs --color never'],
    ['-v', 'version'],
    ['logs --json', 'logs --output json'],
    ['logs -o jsno', 'logs --output json'],
    ['logs -o text', 'logs --output table'],
    ['au report results.csv -o html', 'au report results.csv --html <file>'],
    ['au jobs --status done', 'au jobs --status completed'],
    ['3ds template payment', '3ds template payment-transaction'],
    ['au download', 'au download <job>'],
    ['logs --since', 'logs --since <time>'],
    ['logs tail audit', 'logs search <dir>'],
    ['logs --api-key x', 'login'],
    ['logs --time never', 'logs --help'],
    ['help au sbmit', 'help au submit'],
    ['help lgos -o table', 'help logs'],
    ['logs --since', 'logs --since <time>'],
    ['logs --since --quiet', 'logs --since <time> --quiet'],
    ['logs --since --sandbox', '--sandbox logs --since <time>'],
    ['logs --since --output=csv', 'logs --since <time> --output csv'],
    ['logs --limit 3 --output', 'logs --limit 3 --output <format>'],
    ['nothing-like-it', '--help'],
    ['--vesion', '--version'],
    ['reset --force', 'reset --yes'],
    ['logs history --entity-id x', 'logs history --help'],
  ])('svc %s names the next command: svc %s', async (line, next) => {
    expect(await mistake(line)).toMatchObject({ code: 'usage', next: next.split(' ') });
  });

  it.each([
    ['logs --limit ten', '--limit must be a whole number of at least 1, not "ten"'],
    ['logs --limit 0', '--limit must be a whole number of at least 1'],
    ['logs --since', '--since needs a time: only entries since: 2h, 10:00, 2026-01-31'],
    ['logs -o', '--output needs a format: table, json, jsonl, csv, yaml'],
    ['au submit', '<file|-> is missing: a request file, or - for standard input'],
    ['help au sbmit', 'no help topic "sbmit"'],
  ])('svc %s is explained: %s', async (line, message) => {
    expect(await mistake(line)).toMatchObject({ code: 'usage', message });
  });

  it.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])(
    'a word that every object inherits, %s, is no choice, command, setting or topic',
    async (word) => {
      for (const line of [
        `logs -o ${word}`,
        `logs --time ${word}`,
        `logs --color ${word}`,
        `completion install --shell ${word}`,
        word,
        `au ${word}`,
        `help ${word}`,
        `3ds template ${word}`,
      ])
        expect({ line, error: await mistake(line) }).toMatchObject({ line, error: { code: 'usage' } });
    },
  );

  it('a mistaken word is looked for in all groups, and each command of that name is listed', async () => {
    expect(await mistake('reset-all')).toMatchObject({ next: ['--help'] });
    expect(await mistake('show')).toMatchObject({
      next: ['tenant', 'show'],
      alternatives: [
        ['3ds', 'show'],
        ['profile', 'show'],
      ],
    });
  });

  it('a time that is almost a word, or lacks its sign, gets a hint', async () => {
    expect(await mistake('logs --since yesterdy')).toMatchObject({ hint: "Did you mean 'yesterday'?" });
    expect(await mistake('logs --since 1764000000')).toMatchObject({ hint: 'Write @ before seconds since 1970.' });
  });
});

describe('a habit that works as typed', () => {
  it.each([
    ['logs -o=csv', { globals: { output: 'csv' } }],
    ['logs -ocsv', { globals: { output: 'csv' } }],
    ['logs -n=5', { input: { limit: 5 } }],
    ['sandbox clock 6d', { input: { by: '6d' } }],
    ['sandbox clock +6d', { input: { by: '6d' } }],
  ])('svc %s is understood', async (line, parsed) => {
    expect(await parse(line.split(' '), PROGRAM)).toMatchObject({ kind: 'run', ...parsed });
  });

  it('seconds since 1970 are a time', async () => {
    const invocation = await parse(['logs', '--since', '@1764000000'], PROGRAM);
    const since: unknown = invocation.kind === 'run' ? invocation.input['since'] : undefined;
    expect(typeof since === 'function' && since(0)).toBe(1_764_000_000_000);
  });
});
