import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ledger } from '../../../src/emulator/ledger.ts';
import type { JournalEvent } from '../../../src/emulator/state/events.ts';
import { directoryUse, Journal, resetSandbox, statePaths } from '../../../src/emulator/state/journal.ts';
import { SandboxState } from '../../../src/emulator/state/state.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import type { LogPage } from '../../../src/schema/log.ts';
import { type JobPage, MANAGEMENT, PRIVATE, sandbox, START, testClock } from '../harness.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const mode = (path: string) => statSync(path).mode & 0o777;
const open = (directory: string) => new SandboxState(statePaths(directory), {}, () => START);
const job = (nonce: string): JournalEvent => ({ type: 'job', at: START, nonce, application: 2 });
const nonces = (state: SandboxState) => state.refresh().jobs.all.map(({ created }) => created.nonce);

describe('the journal', () => {
  it('the journal lets several processes see each other, in one order', () => {
    const directory = temporaryDirectory();
    const states = [open(directory), open(directory), open(directory)];
    for (let count = 0; count < 30; count += 1) states[count % 3]!.record(job(String(count)));
    const expected = Array.from({ length: 30 }, (_, index) => String(index));
    for (const state of states) expect(nonces(state)).toEqual(expected);
    const ids = states.map((state) => state.world.jobs.all.map(({ id }) => id));
    expect(ids[1]).toEqual(ids[0]);
    expect(ids[2]).toEqual(ids[0]);
    expect(new Set(ids[0]).size).toBe(30);
    for (const state of states) state.close();
  });

  it('the journal begins once, whoever comes first', () => {
    const directory = temporaryDirectory();
    const secrets = [1, 2, 3].map(() => open(directory).world.start.secret);
    expect(new Set(secrets).size).toBe(1);
    expect(readdirSync(directory).toSorted()).toEqual(['files', 'journal.jsonl']);
  });

  it('the journal holds every whole line when a process was killed in the middle of one', () => {
    const directory = temporaryDirectory();
    const { journal } = statePaths(directory);
    const state = open(directory);
    for (const nonce of ['a', 'b', 'c']) state.record(job(nonce));
    state.close();
    const whole = readFileSync(journal);
    const begun = whole.indexOf('\n') + 1;
    fc.assert(
      fc.property(fc.integer({ min: begun, max: whole.length }), (cut) => {
        writeFileSync(journal, whole.subarray(0, cut));
        const survivor = open(directory);
        const left = ['a', 'b', 'c'].slice(0, survivor.world.jobs.all.length);
        expect(nonces(survivor)).toEqual(left);
        survivor.record(job('d'));
        survivor.record(job('e'));
        const found = nonces(survivor);
        // A line that lacked only its line break counts once the next write adds it.
        expect([`${left.join('')}de`, `${left.join('')}${'abc'[left.length]}de`]).toContain(found.join(''));
        survivor.close();
      }),
    );
  });

  it('the journal passes over events of a later version', () => {
    const directory = temporaryDirectory();
    const state = open(directory);
    appendFileSync(statePaths(directory).journal, '{"type":"later","at":1}\n[]\nnull\n{"type":"job"}\n');
    state.record(job('a'));
    expect(nonces(state)).toEqual(['a']);
    state.close();
  });

  it('the journal moves the clock of every process', async () => {
    const on = await sandbox();
    const state = open(on.directory);
    state.record({ type: 'clock', at: START, offset: 7_200_000 });
    state.close();
    const answer = await on.call('/tenants/self', { headers: MANAGEMENT });
    expect(Date.parse(answer.headers.get('date') ?? '')).toBe(START + 7_200_000);
  });
});

describe('several sandboxes on one directory', () => {
  it('several sandboxes on one directory share jobs from creation to download', async () => {
    const clock = testClock();
    const one = await sandbox({ clock });
    const two = await sandbox({ clock, directory: one.directory });
    const created = await one.createJob();
    const seen = await two.readJob(created.id);
    expect((await two.upload(seen, exampleRequestFile())).status).toBe(200);
    const done = await one.readJob(created.id);
    expect(done.status).toBe('completed');
    expect((await fetch(done.download_url)).status).toBe(200);
    const jobs = await Promise.all([one, two, one, two].map((on) => on.createJob()));
    const { data } = await two.json<JobPage>('/account-updater/jobs', { headers: PRIVATE });
    expect(new Set(data.map((job) => job.id))).toEqual(new Set([created, ...jobs].map((job) => job.id)));
  });

  it('several sandboxes on one directory find everything again after a restart', async () => {
    const one = await sandbox();
    const job = await one.process(exampleRequestFile());
    await one.close();
    const two = await sandbox({ directory: one.directory });
    expect((await two.readJob(job.id)).status).toBe('completed');
    expect((await fetch(job.download_url.replace(one.url, two.url))).status).toBe(200);
  });

  it('several sandboxes on one directory start anew after a reset, also those that run', async () => {
    const on = await sandbox();
    const job = await on.process(exampleRequestFile());
    on.clock.ms += 1;
    resetSandbox(on.directory);
    expect((await on.call(`/account-updater/jobs/${job.id}`, { headers: PRIVATE })).status).toBe(404);
    const next = await on.process(exampleRequestFile());
    expect(next.status).toBe('completed');
    expect(next.id).not.toBe(job.id);
    expect(next.tenant_id).not.toBe(job.tenant_id);
    rmSync(on.directory, { recursive: true });
    expect((await on.process(exampleRequestFile())).status).toBe('completed');
  });
});

describe('the tenant of a sandbox', () => {
  it('the tenant has one id in jobs, logs and its own record', async () => {
    const on = await sandbox({ tenants: ['test', 'production'] });
    const { tenant_id: id } = await on.createJob();
    const { data } = await on.json<LogPage>('/logs?size=100&entity_type=tenant', { headers: MANAGEMENT });
    expect(data.length).toBeGreaterThan(3);
    for (const log of data) expect([log.tenant_id, log.entity_id]).toEqual([id, id]);
    expect(await on.json('/tenants/self', { headers: MANAGEMENT })).toMatchObject({ id });
    expect(on.tenants.map((tenant) => tenant.id === id)).toEqual([true, false]);
  });

  it('the tenant keeps its id while its journal stays', async () => {
    const one = await sandbox();
    await one.close();
    const two = await sandbox({ directory: one.directory });
    expect(two.tenants).toEqual(one.tenants);
  });
});

describe('the state directory', () => {
  it('R08: the state directory is for its owner alone, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      const directory = join(temporaryDirectory(), 'state');
      const on = await sandbox({ directory });
      await on.process(exampleRequestFile());

      expect([mode(directory), mode(join(directory, 'files'))]).toEqual([0o700, 0o700]);
      const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      expect(files.length).toBe(4);
      for (const file of files) expect([file.name, mode(join(file.parentPath, file.name))]).toEqual([file.name, 0o600]);
    } finally {
      process.umask(before);
    }
  });

  it('the state directory is refused when it holds other things, and left as it is', async () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'letter.txt'), 'dear');
    await expect(sandbox({ directory })).rejects.toThrow('contains other files');
    expect(readdirSync(directory)).toEqual(['letter.txt']);
  });

  it.each(['journal.jsonl', 'ledger.jsonl'])('the state directory is refused when its %s is a link', async (name) => {
    const { directory } = await sandbox();
    const target = join(temporaryDirectory(), 'target.jsonl');
    renameSync(join(directory, name), target);
    symlinkSync(target, join(directory, name));
    const before = readFileSync(target, 'utf8');
    expect(directoryUse(directory)).toBe('foreign');
    await expect(sandbox({ directory })).rejects.toThrow('contains other files');
    expect(readFileSync(target, 'utf8')).toBe(before);
  });

  it('a link that takes the place of a journal or of the record of requests is not followed', () => {
    const directory = temporaryDirectory();
    writeFileSync(join(directory, 'target'), '');
    symlinkSync('target', join(directory, 'link'));
    expect(() => new Ledger(join(directory, 'link'))).toThrow('ELOOP');
    expect(() => new Journal(join(directory, 'link')).read()).toThrow('ELOOP');
  });

  it('the state directory keeps the seed and the number of logs that it began with', async () => {
    const on = await sandbox({ seed: 4, logCount: 10 });
    const { directory } = on;
    await expect(sandbox({ directory, seed: 5, logCount: 10 })).rejects.toThrow('seed 4');
    await expect(sandbox({ directory, seed: 4, logCount: 11 })).rejects.toThrow('10 logs');
    const again = await sandbox({ directory, seed: undefined, logCount: undefined });
    const logs = await again.json<LogPage>('/logs?size=100', { headers: MANAGEMENT });
    expect(logs.data).toHaveLength(10);
  });

  it('the state directory is cleared of what killed uploads left, after a while', async () => {
    const on = await sandbox();
    await on.close();
    const draft = join(on.directory, 'files', 'x.draft');
    writeFileSync(draft, '');
    await (await sandbox({ directory: on.directory })).close();
    expect(on.files()).toEqual(['x.draft']);

    utimesSync(draft, new Date(0), new Date(0));
    await sandbox({ directory: on.directory });
    expect(on.files()).toEqual([]);
  });
});

describe('the server', () => {
  it('the server listens on loopback only', async () => {
    expect(new URL((await sandbox()).url).hostname).toBe('127.0.0.1');
  });

  it('the server tells when its port is taken', async () => {
    const on = await sandbox();
    await expect(sandbox({ port: on.port })).rejects.toThrow('EADDRINUSE');
  });

  it('the server lets an interceptor answer or break an exchange', async () => {
    const on = await sandbox({
      intercept: (incoming, outgoing, proceed) => {
        if (incoming.url === '/broken') outgoing.destroy();
        else if (incoming.url === '/busy') outgoing.writeHead(503).end();
        else if (incoming.url === '/twice') {
          outgoing.writeHead(503).end();
          proceed();
        } else proceed();
      },
    });
    await expect(on.call('/broken')).rejects.toThrow('fetch failed');
    expect((await on.call('/busy')).status).toBe(503);
    expect((await on.call('/twice')).status).toBe(503);
    expect((await on.call('/tenants/self', { headers: MANAGEMENT })).status).toBe(200);
    expect(on.ledger().map(({ status, aborted }) => [status, aborted])).toEqual([
      [0, true],
      [503, false],
      [503, false],
      [200, false],
    ]);
  });

  it('the server leaves the globals of its process alone', async () => {
    const before = [globalThis.Request, globalThis.Response];
    await sandbox();
    expect([globalThis.Request, globalThis.Response]).toEqual(before);
  });
});
