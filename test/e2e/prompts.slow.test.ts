import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleRequestFile, sandboxCards } from '../../src/emulator/vault/cards.ts';
import { startSandbox } from '../support/sandbox.ts';
import { readSourceFiles } from '../support/source-file.ts';
import { finished, Home } from '../support/svc.ts';
import { temporaryDirectory } from '../support/directory.ts';

const home = new Home();

const ids = { refused: '', job: '', session: '', url: '' };

/** The key of the service whose store refuses every file. */
const env = { SVC_PRIVATE_API_KEY: 'sandbox-private-key' };

/**
 * Every source file that asks a question, with a command line that leads to it, the option to give instead, and the exit
 * code unless that is 2.
 */
const QUESTIONS: Readonly<Record<string, readonly [line: () => string, instead: RegExp, code?: number]>> = {
  'au/commands/abandon.ts': [() => `--base-url ${ids.url} au abandon ${ids.refused}`, /--yes/],
  'au/commands/ignore.ts': [() => `--sandbox au ignore ${ids.job}`, /--yes/],
  'au/commands/prune.ts': [() => '--sandbox au prune --older-than 1d', /--yes/],
  // A column of unclear meaning is a problem of the export, so that it ends with 13 like its other problems.
  'au/prepare/questions.ts': [() => 'au prepare dated.csv --out request.csv', /--no-expiration/, 13],
  'au/jobs/before-sending.ts': [() => '--sandbox au submit merchants.csv --cycle third', /--accept merchants/, 6],
  'au/refresh/refresh.ts': [() => '--sandbox au refresh tokens.csv', /--cycle/],
  '3ds/commands/authenticate.ts': [() => `--sandbox 3ds authenticate ${ids.session} --file body.json`, /--again/, 13],
  'general/commands/api.ts': [() => '--sandbox api PUT /tenants/self --set name=Other', /--yes/],
  'general/login-keys.ts': [() => 'login --base-url http://127.0.0.1:9', /--management-key-stdin/],
  'general/commands/logout.ts': [() => 'logout --all', /--yes/],
  'general/commands/profile/delete.ts': [() => 'profile delete spare', /--yes/],
  'general/commands/reset.ts': [() => `reset --forget ${ids.refused}`, /--yes/],
  'sandbox/commands/reset.ts': [() => 'sandbox reset', /--yes/],
  'tenant/commands/delete.ts': [() => '--sandbox tenant delete', /--confirm/],
  'tenant/commands/update.ts': [() => '--sandbox tenant update --name Other', /--yes/],
};

beforeAll(async () => {
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
  const dated = sandboxCards().map(({ token }) => `${token},05/2031\n`);
  const [header = '', row = ''] = exampleRequestFile().split('\n');
  const merchants = Array.from({ length: 6 }, (_each, at) => `${row.slice(0, row.lastIndexOf(','))},M${at}`);
  writeFileSync(home.file('merchants.csv'), [header, ...merchants, ''].join('\n'));
  writeFileSync(home.file('dated.csv'), `token,until_when\n${dated.join('')}`);
  const old = home.file(
    `.local/state/svc/ledger/sandbox/jobs/${await jobOf('--sandbox au submit tokens.csv --wait -o json')}`,
  );
  for (const name of readdirSync(old)) utimesSync(join(old, name), new Date(0), new Date(0));
  await refuseFile();
  ids.job = await idOf('--sandbox au create -o json');
  ids.session = await idOf(`--sandbox 3ds create --token ${sandboxCards()[0]?.token ?? ''} --type customer -o json`);
  const body = await home.svc(['3ds', 'template', 'payment-transaction', '-o', 'json']);
  writeFileSync(home.file('body.json'), body.stdout);
  await home.svc(['--sandbox', '3ds', 'authenticate', ids.session, '--file', 'body.json']);
  await home.svc(['profile', 'set', 'output', 'json', '--profile', 'spare']);
  for (const name of ['one', 'two']) {
    const login = [
      'login',
      '--no-check',
      '--profile',
      name,
      '--base-url',
      'http://127.0.0.1:9',
      '--management-key-stdin',
    ];
    await home.svc(login, { input: 'a-management-key\n' });
  }
});

async function idOf(line: string): Promise<string> {
  const { stdout } = await home.svc(line.split(' '));
  return (JSON.parse(stdout) as { id?: string }).id ?? '';
}

/** Submits a file to a store that refuses it, so that its job never gets one. */
async function refuseFile(): Promise<void> {
  const directory = temporaryDirectory();
  const sandbox = await startSandbox({
    directory,
    intercept: ({ method }, outgoing, proceed) => (method === 'PUT' ? outgoing.writeHead(400).end() : proceed()),
  });
  afterAll(() => sandbox.close());
  ids.url = sandbox.url;
  await home.svc(['--base-url', ids.url, 'au', 'submit', 'tokens.csv'], { env });
  ids.refused = readdirSync(home.file('.local/state/svc/jobs'))[0] ?? '';
}

async function jobOf(line: string): Promise<string> {
  const { stdout } = await home.svc(line.split(' '));
  return (JSON.parse(stdout) as { job?: string }).job ?? '';
}

describe('without a terminal', () => {
  it('R54: every file that asks a question has a line here', () => {
    const root = fileURLToPath(new URL('../../src/', import.meta.url));
    const asking = readSourceFiles(root)
      .map(({ path }) => path)
      .filter((path) =>
        /\bprompts(?:\(\))?\.(?:confirm|promptText|promptHidden|promptMeaning)\(/.test(
          readFileSync(`${root}${path}`, 'utf8'),
        ),
      );
    const listed = new Set(Object.keys(QUESTIONS).map((question) => question.split(' ')[0] ?? ''));
    expect(asking.toSorted()).toEqual([...listed].toSorted());
  });

  it.each(Object.entries(QUESTIONS))(
    'R54: the question of %s is not asked: the error names what to give instead',
    async (_, [line, instead, exitCode = 2]) => {
      // Standard input stays open, so that a command that reads it would wait forever.
      const child = home.start(line().split(' '), { env });
      const { code, stderr } = await finished(child);
      expect({ code, stderr }).toEqual({ code: exitCode, stderr: expect.stringMatching(instead) });
    },
  );
});
