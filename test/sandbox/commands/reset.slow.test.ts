import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { FakeClock } from '../../support/clock.ts';
import { ended, type HereResult, succeeded, svcIn } from '../../support/run-here.ts';
import { Home } from '../../support/svc.ts';

let home: Home;
let clock: FakeClock;
beforeEach(() => {
  home = new Home();
  clock = new FakeClock({ start: Date.now(), runs: true });
  writeFileSync(home.file('tokens.csv'), exampleRequestFile());
});

/** Runs a command in this process. Its pauses take no time, neither does the work of its sandbox. */
function svc(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<HereResult> {
  return svcIn(home.path, argv, { env, clock });
}

const submit = (more = '') => svc(`--sandbox au submit tokens.csv ${more}`.trim().split(' '));
const reset = () => svc(['sandbox', 'reset', '--yes']);

describe('svc sandbox reset', () => {
  it('a file that was submitted before is submitted again after a reset, in a new job and without a warning', async () => {
    const before = JSON.parse((await submit()).stdout) as { job: string };
    expect((await reset()).stderr).toMatch(/^sandbox reset: it has a new tenant/);
    const { stdout, stderr } = succeeded(await submit('--wait --out results.csv'));
    const after = JSON.parse(stdout) as { job: string; sent: number };
    expect(after).toMatchObject({ status: 'completed', sent: 40 });
    expect(after.job).not.toBe(before.job);
    expect(stderr).not.toContain('warning');
  });

  it('a reset of the same directory by way of a link deletes its ledger too', async () => {
    await submit();
    symlinkSync(home.file('.local/state/svc'), home.file('link'));
    const linked = home.file('link/sandbox');
    succeeded(await svc(['sandbox', 'reset', '--directory', linked, '--yes']));
    expect(JSON.parse(succeeded(await submit()).stdout)).toMatchObject({ sent: 40 });
  });

  it.each(['journal.jsonl', 'ledger.jsonl'])(
    'a reset is refused where %s is a link, and leaves the file that it leads to',
    async (name) => {
      await submit();
      const sandbox = home.file('.local/state/svc/sandbox');
      renameSync(path.join(sandbox, name), home.file('target'));
      symlinkSync(home.file('target'), path.join(sandbox, name));
      const before = readFileSync(home.file('target'), 'utf8');
      ended(await reset(), 2, /contains other files than a sandbox's; none was touched/);
      expect(before).not.toBe('');
      expect(readFileSync(home.file('target'), 'utf8')).toBe(before);
    },
  );

  it('a cycle that was submitted before is submitted again after a reset', async () => {
    await submit('--cycle 2026-12');
    await reset();
    const { code, stdout } = await submit('--cycle 2026-12');
    expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ sent: 40, left_out: 0 })]);
  });

  it('a job of the deleted tenant is not found after a reset, and nothing is open', async () => {
    const { job } = JSON.parse((await submit()).stdout) as { job: string };
    await reset();
    expect((await svc(['--sandbox', 'au', 'resume', job])).code).toBe(5);
    succeeded(await svc(['--sandbox', 'au', 'resume']));
  });

  it('a directory of cycles of the deleted tenant is refused, with the command that uses another one', async () => {
    const line = '--sandbox au refresh tokens.csv --cycle 2026-12 --yes'.split(' ');
    expect((await svc(line)).code).toBe(0);
    await reset();
    const refused = await svc(line);
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('A reset gives the sandbox a new tenant'),
    });
    const next = /svc (--sandbox au refresh tokens.csv .*--out-dir refresh-sandbox-[0-9a-f]{8})/.exec(refused.stderr);
    succeeded(await svc([...(next?.[1] ?? '').split(' '), '--yes']));
  });

  it.each([
    ['files', 'customers.csv'],
    ['.git/objects', 'pack'],
  ])('a directory that is no sandbox keeps its files, although it has a folder %s', async (folder, file) => {
    mkdirSync(home.file(`app/${folder}`), { recursive: true });
    writeFileSync(home.file(`app/${folder}/${file}`), 'data');
    const directory = home.file(folder.startsWith('.') ? 'app/.git' : 'app');
    if (folder.startsWith('.')) writeFileSync(home.file('app/.git/HEAD'), 'ref');
    for (const command of ['reset', 'clock', 'outcome', 'requests']) {
      const { code, stderr } = await svc(['sandbox', command, '--directory', directory, '--yes']);
      expect([command, code, stderr]).toEqual([command, 2, expect.stringContaining("other files than a sandbox's")]);
    }
    expect(existsSync(home.file(`app/${folder}/${file}`))).toBe(true);
  });

  it.each([
    ['a journal of another program', { 'journal.jsonl': '{"entry":1}\n', 'files/invoice.pdf': 'x' }],
    ['a file in the place of a folder', { files: 'precious' }],
    ['a record of its own', { 'ledger.jsonl': 'mine\n' }],
    ['a record that begins with half a word', { 'ledger.jsonl': '{"a\n' }],
    ['tenants of its own', { 'tenants/acme/contract.pdf': 'precious', 'journal.jsonl': '' }],
    ['a file in the place of a tenant', { 'tenants/2': 'precious' }],
    ['a name that only begins like one', { 'tenants-2026.csv': 'keep' }],
    ['a folder in the place of the journal', { 'journal.jsonl/x': '' }],
  ])('a directory with %s is no sandbox, and nothing of it is deleted', async (_, files) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(path.dirname(home.file(`app/${name}`)), { recursive: true });
      writeFileSync(home.file(`app/${name}`), text);
    }
    for (const command of ['reset', 'clock', 'requests']) {
      const { code, stderr } = await svc(['sandbox', command, '--directory', home.file('app'), '--yes']);
      expect([command, code, stderr]).toEqual([command, 2, expect.stringContaining("other files than a sandbox's")]);
    }
    for (const [name, text] of Object.entries(files)) expect(readFileSync(home.file(`app/${name}`), 'utf8')).toBe(text);
  });

  it('what a running sandbox still writes during a reset does not make its directory another one', async () => {
    const directory = home.file('app');
    mkdirSync(path.join(directory, 'files'), { recursive: true });
    writeFileSync(path.join(directory, 'files/a0b1c2d3-0000-4000-8000-00000000000c.draft'), 'token');
    writeFileSync(path.join(directory, 'ledger.jsonl'), '{"at":"2026-01-05T12:00:00.000Z","method":"GET"}\n');
    mkdirSync(path.join(directory, 'tenants/2/files'), { recursive: true });
    writeFileSync(path.join(directory, 'tenants/2/journal.jsonl'), '{"type":"start"}\n');
    expect((await svc(['sandbox', 'clock', '--directory', directory])).code).toBe(0);
  });

  it.each(['', '\0\0\0', '\0\0{"at":"2026', '{"ty', '{"a'])(
    "a file that a kill or a loss of power left as %j is still a sandbox's",
    async (start) => {
      const directory = home.file('app');
      mkdirSync(directory);
      writeFileSync(path.join(directory, 'ledger.jsonl'), start);
      writeFileSync(path.join(directory, 'journal.jsonl.a0b1c2d3-0000-4000-8000-00000000000c'), start);
      expect((await svc(['sandbox', 'clock', '--directory', directory])).code).toBe(0);
    },
  );

  it('a sandbox whose journal was emptied by a loss of power names the reset in each command, and works after it', async () => {
    await svc(['--sandbox', 'au', 'create']);
    truncateSync(home.file('.local/state/svc/sandbox/journal.jsonl'));
    for (const line of ['--sandbox tenant show', 'sandbox clock', 'sandbox outcome', 'sandbox requests']) {
      const { code, stderr } = await svc(line.split(' '));
      expect([line, code, stderr]).toEqual([line, 1, expect.stringMatching(/journal is damaged[^]*svc sandbox reset/)]);
    }
    await reset();
    expect((await svc(['--sandbox', 'tenant', 'show'])).code).toBe(0);
  });
});
