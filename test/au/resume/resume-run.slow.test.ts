import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { Interceptor } from '../../../src/emulator/options.ts';
import { exampleRequestFile } from '../../../src/emulator/vault/cards.ts';
import { type HereResult, svcHere } from '../../support/run-here.ts';
import { openQuickDesk, type QuickDesk } from '../commands/support.ts';

const RUNS = '.local/state/svc/runs';

/** Opens a desk with a run whose file still has to be uploaded, and is gone. */
async function unfinished(intercept?: Interceptor): Promise<{ desk: QuickDesk; run: string }> {
  let mayUpload = false;
  const desk = await openQuickDesk({
    intercept: (incoming, outgoing, proceed) => {
      if (incoming.method === 'PUT' && !mayUpload) outgoing.writeHead(403).end();
      else (intercept ?? ((_incoming, _outgoing, go) => go()))(incoming, outgoing, proceed);
    },
  });
  expect((await desk.svc('au submit tokens.csv --out results.csv')).code).not.toBe(0);
  mayUpload = true;
  const [run = ''] = desk.runIds();
  desk.change(run, ({ parts }) => {
    for (const part of parts) {
      const earlier = [{ job: part.job, ended: 'gone' }];
      Object.assign(part, { state: 'planned', job: undefined, sent: undefined, earlier_jobs: earlier });
    }
  });
  // The service deletes the job, which has no file.
  await desk.clock.advance(2 * 3_600_000);
  rmSync(desk.home.file('tokens.csv'));
  return { desk, run };
}

function shown({ stdout }: HereResult): Record<string, unknown> {
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('svc au resume', () => {
  it('R80: svc au resume uploads what is left without the file, once, and shows the run', async () => {
    const { desk, run } = await unfinished();
    const resumed = await desk.svc(`au resume ${run}`);
    expect(resumed.code, resumed.stderr).toBe(11);
    expect(shown(resumed)).toMatchObject({ run, status: 'pending', file: 'tokens.csv' });
    expect(resumed.stderr).toContain(`svc au resume ${run} --wait`);
    expect(await desk.svc(`au resume ${run}`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('R80: svc au resume uploads nothing of a run that somebody abandons during its question', async () => {
    const { desk, run } = await unfinished();
    const { home, sandbox, clock } = desk;
    const env = { SVC_PACING: 'off', LANG: 'C.UTF-8' };
    const login = ['login', '--base-url', sandbox.url, '--management-key-stdin', '--private-key-stdin'];
    const here = { clock, home: home.path, cwd: home.path, env: home.environment(env) };
    await svcHere(login, { ...here, input: 'sandbox-management-key\nsandbox-private-key\n' });
    const tenants = home.file('.cache/svc/tenants.json');
    writeFileSync(tenants, readFileSync(tenants, 'utf8').replace('"type":"test"', '"type":"production"'));
    const terminal = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
    const asked = new Promise<void>((resolve) => terminal.once('resume', resolve));
    const resumed = svcHere(['au', 'resume', run, '-o', 'json'], { ...here, input: terminal, columns: 80 });
    expect(await Promise.race([asked, resumed])).toBeUndefined();
    expect(await svcHere(['au', 'abandon', run, '--yes'], here)).toMatchObject({ code: 0 });
    terminal.write('y\n');
    const { code, stderr } = await resumed;
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('This may be billed.');
    expect(stderr).toContain(`${run} was abandoned`);
    expect(desk.uploads()).toBe(0);
  });

  it('R80: svc au resume continues to the results with --wait, to the file that was named first or to another', async () => {
    const { desk, run } = await unfinished();
    const done = await desk.svc(`au resume ${run} --wait --fail-on err=99%`);
    expect(done.code, done.stderr).toBe(0);
    expect(shown(done)).toMatchObject({ status: 'completed', results: { file: 'results.csv', compared: true } });
    expect(await desk.svc(`au resume ${run} --wait --out other.csv`)).toMatchObject({ code: 0 });
    expect(readFileSync(desk.home.file('other.csv'))).toEqual(readFileSync(desk.home.file('results.csv')));
    expect(desk.uploads()).toBe(1);
  });

  it.each(['exists', 'has no directory any more'])(
    'svc au resume keeps the results with the run if the file that was named first %s',
    async (why) => {
      const desk = await openQuickDesk();
      mkdirSync(desk.home.file('out'));
      expect(await desk.svc('au submit tokens.csv --out out/r.csv')).toMatchObject({ code: 0 });
      const [run = ''] = desk.runIds();
      if (why === 'exists') writeFileSync(desk.home.file('out/r.csv'), 'mine\n');
      else rmSync(desk.home.file('out'), { recursive: true });
      const resumed = await desk.svc(`au resume ${run}`);
      expect(resumed.code, resumed.stderr).toBe(0);
      const file = join(RUNS, run, 'results.csv');
      expect(shown(resumed)).toMatchObject({ status: 'completed', results: { file } });
      expect(resumed.stderr).toContain(`svc au download ${run} --out <file>`);
      expect(existsSync(desk.home.file(file))).toBe(true);
      if (why !== 'exists') return;
      expect(readFileSync(desk.home.file('out/r.csv'), 'utf8')).toBe('mine\n');
      expect(await desk.svc(`au resume ${run} --wait`)).toMatchObject({ code: 2 });
      expect(await desk.svc(`au resume ${run} --force`)).toMatchObject({ code: 0 });
      expect(readFileSync(desk.home.file('out/r.csv'))).toEqual(readFileSync(desk.home.file(file)));
    },
  );

  it('R80: svc au resume is what a run proposes whose file came through a pipe', async () => {
    let mayCreate = true;
    const desk = await openQuickDesk({
      intercept: (incoming, outgoing, proceed) => {
        if (incoming.method === 'POST' && !mayCreate) outgoing.writeHead(403).end();
        else proceed();
      },
    });
    await desk.svc('au create');
    mayCreate = false;
    await desk.svc('au submit -', {}, exampleRequestFile());
    mayCreate = true;
    const [run = ''] = desk.runIds();
    for (const line of [`au status ${run}`, `au download ${run}`]) {
      const { stderr } = await desk.svc(line);
      expect(stderr).toContain(`svc au resume ${run}`);
      expect(stderr).not.toContain('submit -');
    }
    expect(await desk.svc(`au resume ${run} --wait --out results.csv`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('svc au resume leaves failed parts to submit, which it proposes, and which sends them once', async () => {
    let failed: string | undefined;
    const { desk, run } = await unfinished((incoming, outgoing, proceed) => {
      const id = incoming.method === 'GET' && /jobs\/([^/]+)$/.exec(incoming.url ?? '')?.[1];
      if (!id || id !== failed) return proceed();
      outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, status: 'failed' }));
    });
    expect(await desk.svc(`au resume ${run}`)).toMatchObject({ code: 11 });
    failed = desk.record(run).parts[0]?.job;
    expect(await desk.svc(`au resume ${run} --wait`)).toMatchObject({ code: 10 });
    const refused = await desk.svc(`au resume ${run}`);
    expect(refused.code, refused.stderr).toBe(10);
    expect(refused.stderr).toContain('svc au submit tokens.csv');
    expect(desk.uploads()).toBe(1);
    writeFileSync(desk.home.file('tokens.csv'), exampleRequestFile());
    expect(await desk.svc('au submit tokens.csv --out results.csv')).toMatchObject({ code: 0 });
    expect(await desk.svc(`au resume ${run} --wait`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(2);
  });

  it('svc au resume names the file to submit where the copy of a run is gone, and sends nothing', async () => {
    for (const [input, file] of [
      [{}, 'tokens.csv'],
      [{ path: undefined }, '-'],
    ] as const) {
      const { desk, run } = await unfinished();
      desk.removeCopy(run);
      desk.change(run, (record) => Object.assign(record.input, input));
      const before = desk.sandbox.ledger().length;
      const refused = await desk.svc(`au resume ${run}`);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`svc au submit ${file}`);
      expect(desk.sandbox.ledger()).toHaveLength(before);
    }
  });

  it('svc au resume says how to repair a copy that is damaged, and sends nothing', async () => {
    const { desk, run } = await unfinished();
    writeFileSync(desk.home.file(join(RUNS, run, 'run-request.csv')), 'token\n');
    const refused = await desk.svc(`au resume ${run}`);
    expect(refused.code, refused.stderr).toBe(12);
    expect(refused.stderr).toContain('svc au submit tokens.csv');
    expect(desk.uploads()).toBe(0);
  });

  it('svc au resume leaves a run of another address and what is no run, and goes on with an abandoned one that is named', async () => {
    const { desk, run } = await unfinished();
    const elsewhere = await desk.svc(`au resume ${run}`, { SVC_BASE_URL: 'http://127.0.0.1:1' });
    expect(elsewhere.code, elsewhere.stderr).toBe(3);
    expect(await desk.svc('au resume some-job')).toMatchObject({ code: 5 });
    await desk.svc(`au abandon ${run} --yes`);
    expect(desk.uploads()).toBe(0);
    expect(await desk.svc(`au resume ${run} --dry-run`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(0);
    expect(await desk.svc(`au resume ${run} --wait`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });

  it('R75: svc au resume takes up a run that sent nothing, unless a later run of its file was begun', async () => {
    const desk = await openQuickDesk();
    await desk.svc('au create');
    await desk.svc('au submit tokens.csv', { SVC_PRIVATE_API_KEY: 'sandbox-private-key-read-only' });
    const [run = ''] = desk.runIds();
    const sandboxed = await desk.svc(`--sandbox au resume ${run}`);
    expect(sandboxed.code, sandboxed.stderr).toBe(3);
    const copy = desk.home.file(join(RUNS, `run-29991231-${run.slice(13, 21)}-0000`));
    copyRun(desk, run, copy);
    const replaced = await desk.svc(`au resume ${run}`);
    expect(replaced.code, replaced.stderr).toBe(6);
    rmSync(copy, { recursive: true });
    const resumed = await desk.svc(`au resume ${run}`);
    expect(resumed.code, resumed.stderr).toBe(11);
    expect(desk.record(run)).toMatchObject({ base_url: desk.sandbox.url });
    expect(desk.uploads()).toBe(1);
  });

  it('R62: svc au resume sends nothing with --dry-run, and says what it would upload', async () => {
    const { desk, run } = await unfinished();
    const before = desk.sandbox.ledger().length;
    const dry = await desk.svc(`au resume ${run} --dry-run`);
    expect(dry.code, dry.stderr).toBe(0);
    expect(dry.stderr).toContain('it would upload 40 rows in 1 job');
    expect(desk.sandbox.ledger()).toHaveLength(before);
  });
});

/** Copies a run to another run of the same file that began later. */
function copyRun(desk: QuickDesk, run: string, target: string): void {
  const from = desk.home.file(join(RUNS, run));
  mkdirSync(target);
  const record = JSON.parse(readFileSync(join(from, 'run.json'), 'utf8')) as Record<string, unknown>;
  const later = { ...record, id: basename(target), created_at: '2999-12-31T00:00:00.000Z' };
  writeFileSync(join(target, 'run.json'), JSON.stringify(later));
}

describe('what a killed process left of a copy of a request', () => {
  it('a leftover copy of a request is removed by whoever works on the run next, and the copy stays', async () => {
    const { desk, run } = await unfinished();
    const copy = desk.home.file(join(RUNS, run, 'run-request.csv'));
    const drafts = ['run-request.csv.tmp', '.run-request.csv.new', '.run-request.csv.new.tmp'];
    const paths = drafts.map((name) => desk.home.file(join(RUNS, run, name)));
    for (const path of paths) copyFileSync(copy, path);
    expect(await desk.svc(`au resume ${run} --wait`)).toMatchObject({ code: 0 });
    expect(paths.filter((path) => existsSync(path))).toEqual([]);
    expect(existsSync(copy)).toBe(true);
  });

  it('a leftover copy of a request is the copy where the process was killed before it got its name', async () => {
    const { desk, run } = await unfinished();
    const copy = desk.home.file(join(RUNS, run, 'run-request.csv'));
    renameSync(copy, desk.home.file(join(RUNS, run, '.run-request.csv.new')));
    expect(await desk.svc(`au resume ${run} --wait`)).toMatchObject({ code: 0 });
    expect(desk.uploads()).toBe(1);
  });
});
