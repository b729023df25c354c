import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isSvcError } from '../../../src/base/errors.ts';
import { parse } from '../../../src/cli/app/run.ts';
import { PROGRAM } from '../../../src/tree.ts';
import { PUBLISHED_TEST_CARDS } from '../../support/card-numbers.ts';
import { errorIn, svcIn } from '../../support/run-here.ts';

const ID = '4707c78a-ef35-487e-a67c-cc101d1d4c49';
const directory = mkdtempSync(join(tmpdir(), 'svc-wrong-input-'));
mkdirSync(join(directory, 'exports'));
mkdirSync(join(directory, 'archive-2'));
writeFileSync(join(directory, 't.csv'), 'token,expiration_year,expiration_month,merchant_id\n');
writeFileSync(join(directory, 'body.json'), '{}');
writeFileSync(join(directory, 'report.html'), '<!DOCTYPE html>\n<html><body>A report</body></html>\n');

afterAll(() => rmSync(directory, { recursive: true }));

async function mistake(line: string): Promise<{ next: string; message: string; hint: string | undefined }> {
  const error: unknown = await parse(line.split(' '), PROGRAM, directory).catch((thrown: unknown) => thrown);
  if (!isSvcError(error, 'usage')) throw new Error(`svc ${line} is understood`);
  return { next: (error.next ?? []).join(' '), message: error.message, hint: error.hint };
}

async function suggested(line: string): Promise<unknown> {
  return errorIn(await svcIn(directory, [...line.split(' '), '-o', 'json']))['next'];
}

describe('a wrong input', () => {
  it.each([
    // An option that is spelled alike is suggested only for a value that it takes.
    ['logs --action delete', 'logs --operation delete'],
    ['logs --operaton delete', 'logs --operation delete'],
    ['logs --opration', 'logs --operation <name>'],
    ['logs --sinc 2h', 'logs --since 2h'],
    ['logs --out x', 'logs --help'],
    ['logs archive --out audit', 'logs archive audit'],
    ['au refresh t.csv --cycle c --out x', 'au refresh t.csv --cycle c --out-dir x'],
    ['au check t.csv --wait', 'au check --help'],
    // An option of another tool.
    ['tenant delete --force', 'tenant delete --confirm <tenant>'],
    ['api POST /x -f a=1', 'api POST <path> --set <a.b=text>'],
    ['api POST /x -f', 'api POST <path> --set <a.b=text>'],
    ['logs --type card', 'logs --entity-type card'],
    ['logs --format json', 'logs --output json'],
    ['logs --json', 'logs --output json'],
    ['logs --json a,b', 'logs --fields a,b'],
    ['logs -o name', 'logs --fields <a,b.c>'],
    ['logs -o custom-columns=a,b', 'logs --fields <a,b.c>'],
    ['logs -o jsonpath={.id}', 'logs --jq <expression>'],
    ['logs --filter operation=delete', 'logs --operation delete'],
    ['logs --filter entity_type=card', 'logs --entity-type card'],
    ['logs --filter operation=key_7Qz4', 'logs --operation <name>'],
    // A value without its option.
    ['logs list card', 'logs list --entity-type card'],
    ['logs card', 'logs --entity-type card'],
    ['logs create', 'logs --operation create'],
    ['logs 5d', 'logs --since 5d'],
    ['logs list 20', 'logs list --limit 20'],
    ['logs tail 20', 'logs tail --last 20'],
    ['logs review audit 2026-11-22', 'logs review audit --day 2026-11-22'],
    ['logs search audit delete', 'logs search audit --operation delete'],
    ['logs history 5f0c card', 'logs history <entity-id> --entity-type card'],
    ['au jobs failed', 'au jobs --status failed'],
    ['3ds authenticate 5f0c body.json', '3ds authenticate <session> --file body.json'],
    ['tenant update Acme', 'tenant update --name <name>'],
    ['au submit t.csv --cycle december 2026', 'au submit t.csv --cycle december-2026'],
    // A date and a time of day that are one time.
    ['logs list --since 2026-11-26 22:00', 'logs list --since 2026-11-26T22:00'],
    ['logs --until=2026-11-27 10:00 --all', 'logs --until 2026-11-27T10:00 --all'],
    ['logs list --since yesterday 22:00', 'logs list --since yesterday 22:00'],
    ['logs search archive-2 --since 2026-11-26 22:00:05', 'logs search archive-2 --since 2026-11-26T22:00:05'],
    ['logs search --since 2026-11-26 22:00 archive-2', 'logs search --since 2026-11-26T22:00 archive-2'],
    // A value that was typed as an option.
    ['logs --csv', 'logs --output csv'],
    ['au jobs --failed', 'au jobs --status failed'],
    ['logs --card', 'logs --entity-type card'],
    // A verb of another tool.
    ['tenant get', 'tenant show'],
    ['profile rm', 'profile delete <name>'],
    ['profile switch', 'profile use <name>'],
    ['logs follow', 'logs tail'],
    ['logs grep', 'logs search <dir>'],
    ['3ds get', '3ds show <session>'],
    ['au validate', 'au check <file>'],
    // Another command.
    ['uninstall', 'reset'],
    ['au jobs list', 'au jobs'],
    ['au create t.csv', 'au submit t.csv'],
    ['au upload t.csv', 'au submit t.csv'],
    ['au create nothing.csv', 'au submit <file>'],
    ['tenant diff default prod', 'tenant diff <file>'],
  ])('svc %s is answered with svc %s', async (line, next) => {
    expect((await mistake(line)).next).toBe(next);
  });

  it('R05: an id in the wrong place is matched to the options that take one, and is not repeated', async () => {
    const error: unknown = await parse(['logs', 'list', ID], PROGRAM).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      message: expect.stringContaining('(not shown: it may be a secret)'),
      next: ['logs', 'list', '--entity-id', '<id>'],
      alternatives: [['logs', 'list', '--actor', '<id>']],
    });
  });

  it.each(['key_7Qz4Xw91', '123456', `${ID}x`, PUBLISHED_TEST_CARDS[0], '2026-11-22T10:00key'])(
    'R05: an argument that may be a key, %s, is not repeated',
    async (word) => {
      for (const line of [`logs ${word}`, `logs list ${word}`, `au jobs ${word}`, `logs --action ${word}`])
        expect(JSON.stringify(await mistake(line))).not.toContain(word);
    },
  );

  it('an option that takes no value says so', async () => {
    expect(await mistake('logs --debug=1')).toMatchObject({ message: '--debug takes no value', next: 'logs --debug' });
  });

  it('a word after the value of an option is shown, with one value of both words', async () => {
    expect(await mistake('tenant update --name Acme Corp')).toMatchObject({ next: 'tenant update --name Acme Corp' });
    expect((await mistake('au submit t.csv --cycle december 2026')).message).toContain('"2026"');
  });
});

describe('a line with one wrong word', () => {
  it.each([
    ['au sumbit t.csv --cycle 2026-12 --wait', 'au submit t.csv --cycle 2026-12 --wait'],
    ['au sumbit --wait', 'au submit --wait <file>'],
    ['submit t.csv -o json', 'au submit t.csv -o json'],
    ['tenant rm --dry-run', 'tenant delete --dry-run'],
    ['3ds create --token abc --type custmer', '3ds create --token abc --type customer'],
    ['tenant update --nmae X --yes', 'tenant update --name X --yes'],
    ['logs --operation create --limt=3 -q', 'logs --operation create --limit 3 -q'],
    ['logs --wdie --all', 'logs --wide --all'],
    ['3ds template payment -q', '3ds template payment-transaction -q'],
    ['logs --operation create --since', 'logs --operation create --since <time>'],
    ['au download --out r.csv', 'au download --out r.csv <job>'],
  ])('svc %s is suggested with that word mended: svc %s', async (line, next) => {
    expect((await mistake(line)).next).toBe(next);
  });

  it('the suggested command is for the service that was typed', async () => {
    expect(await suggested('--sandbox tenant rm')).toBe('svc --sandbox tenant delete -o json');
    expect(await suggested('-p prod logs --limt 3')).toBe('svc --profile prod logs --limit 3 -o json');
    expect(await suggested('tenant rm --base-url=https://a.example')).toBe(
      'svc --base-url https://a.example tenant delete -o json',
    );
    expect(await suggested('-p prod logs --endpoint https://a.example')).toBe(
      'svc --profile prod logs --base-url <url> -o json',
    );
    expect(await suggested('--sandbox -p prod logs')).toBe('svc --sandbox --profile prod logs --help');
  });

  it.each([
    ['--sandbox logs --profle x', 'svc --sandbox logs --profile x'],
    ['--sandbox logs --profle=x --all', 'svc --sandbox logs --profile x --all'],
    ['--sandbox --profle x logs', 'svc --sandbox logs --profile x'],
    ['--sandbox logs --account x', 'svc --sandbox logs --profile x'],
    ['--profile a logs --profle b', 'svc --profile a logs --profile b'],
    ['-p prod logs --sandbx', 'svc --profile prod logs --sandbox'],
    ['--base-url https://a.example logs --profle x', 'svc --base-url https://a.example logs --profile x'],
    ['--base-url https://a.example logs --sandbx', 'svc --base-url https://a.example logs --sandbox'],
    ['--base-url https://a.example logs --sandbox=on', 'svc --base-url https://a.example logs --sandbox'],
    ['--sandbox -p prod logs -o jsn', 'svc --sandbox --profile prod logs --output json'],
  ])(
    'svc %s is suggested for the service that was typed, also beside a mended option that excludes it',
    async (line, next) => {
      expect(await suggested(line)).toBe(`${next} -o json`);
    },
  );

  it('no typed word is left out of the suggested command, since it may be the one that made the line harmless', async () => {
    const { next } = await mistake('au submit a.csv --yes --wiat --dry-run2');
    expect(next).toBe('au submit a.csv --yes --wait <option>');
    expect((await mistake('au submit a.csv --wiat --dry-run2=on -yn')).next).toBe(
      'au submit a.csv --wait <option> <value> -y -n',
    );
    expect(await suggested('-yp prod au submit a.csv --wiat')).toBe(
      'svc --profile prod au submit -y a.csv --wait -o json',
    );
  });

  it('R05: a typed value that may be a secret is left out of the suggested command', async () => {
    const key = 'key_7Qz4Xw91';
    for (const line of [
      `lgos ${key}`,
      `au sumbit ${key} --cycle ${key}`,
      `tenant rm --confirm ${key} --key ${key} --api-key=${key}`,
      `3ds create --token ${key} --type custmer`,
      `tenant update --nmae ${key} --set a=${key}`,
      `tenant update --set a=${key} --name`,
      `3ds show --since ${key} ${key}`,
    ])
      expect(JSON.stringify(await mistake(line))).not.toContain(key);
    expect((await mistake(`3ds create --token ${key} --type custmer`)).next).toBe(
      '3ds create --token <id> --type customer',
    );
  });
});

describe('help and names that come in another order', () => {
  it.each([
    ['--help au submit', 'au submit'],
    ['-h au submit', 'au submit'],
    ['--sandbox --help logs tail', 'logs tail'],
    ['help account-updater jobs', 'au jobs'],
    ['account-updater jobs --help', 'au jobs'],
  ])('svc %s is the help of svc %s', async (line, words) => {
    expect(await parse(line.split(' '), PROGRAM)).toMatchObject({ kind: 'help', about: { kind: 'command', words } });
  });

  it('svc account-updater is svc au', async () => {
    expect(await parse(['account-updater', 'jobs', '--all'], PROGRAM)).toMatchObject({ kind: 'run', words: 'au jobs' });
    expect((await mistake('account-updater jobs --limt 3')).next).toBe('au jobs --limit 3');
  });
});

describe('a wrong file', () => {
  it.each([
    ['au check exports', 1, 'exports is a directory'],
    ['au submit exports', 1, 'exports is a directory'],
    ['au check report.html', 13, 'report.html is a web page (HTML), not a request file'],
    ['au submit report.html', 13, 'report.html is a web page (HTML), not a request file'],
    ['au refresh report.html --cycle c', 13, 'report.html is a web page (HTML), not an export of tokens'],
    ['au report report.html', 13, 'report.html is a web page (HTML), not a result file'],
  ])('svc %s ends with %i: %s', async (line, exit, message) => {
    const { code, stderr } = await svcIn(directory, ['--sandbox', ...line.split(' ')]);
    expect(code).toBe(exit);
    expect(stderr).toContain(message);
  });
});
