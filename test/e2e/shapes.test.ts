import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { leafPaths } from '../../src/output/view.ts';
import { FakeClock } from '../support/clock.ts';
import { svcHere } from '../support/run-here.ts';
import { finished, Home } from '../support/svc.ts';
import { allCommands } from '../support/tree.ts';

/**
 * What each command prints for programs: a command line for every command that has fields, in an order in which each
 * finds what it needs. `{name}` stands for what an earlier one gave. Null: shown by hand below.
 */
const LINES: readonly (readonly [
  command: string,
  line: string,
  keeps?: readonly [name: string, path: string],
])[] = [
  ['logs list', 'logs --limit 300'],
  ['logs tail', 'logs tail --since 2d --limit 50'],
  ['logs entity-types', 'logs entity-types'],
  ['logs stats', 'logs stats --since 2d'],
  ['logs archive', 'logs archive audit'],
  ['logs search', 'logs search audit'],
  ['logs verify', 'logs verify audit'],
  ['tenant show', 'tenant show'],
  ['tenant update', 'tenant update --name Renamed --yes'],
  ['tenant usage', 'tenant usage'],
  ['sandbox cards', 'sandbox cards'],
  ['sandbox cards --3ds', 'sandbox cards --3ds', ['card', '0.token']],
  ['3ds create', '3ds create --token {card} --type customer', ['session', 'id']],
  ['3ds show', '3ds show {session}'],
  ['3ds template', '3ds template payment-transaction'],
  ['3ds validate', '3ds validate body.json'],
  ['3ds authenticate', '3ds authenticate {session} --file body.json'],
  ['3ds challenge-result', '3ds challenge-result {session}'],
  ['3ds explain', '3ds explain'],
  ['au check', 'au check tokens.csv'],
  ['au submit', 'au submit tokens.csv --wait --out results.csv', ['run', 'run']],
  ['au create', 'au create', ['job', 'id']],
  ['au upload', 'au upload {job} tokens.csv'],
  ['au status', 'au status'],
  ['au status <run>', 'au status {run}'],
  ['au status <job>', 'au status {job}'],
  ['au list', 'au list'],
  ['au wait', 'au wait {job}'],
  ['au wait <run>', 'au wait {run}'],
  ['au download', 'au download {job} --out job.csv'],
  ['au report', 'au report results.csv --request tokens.csv --split-into split'],
  ['au next', 'au next tokens.csv results.csv --out next.csv'],
  ['au submit --dry-run', 'au submit next.csv --dry-run'],
  ['au submit, not waited for', 'au submit next.csv', ['open', 'run']],
  ['au abandon', 'au abandon {open} --yes'],
  ['au sync', 'au sync'],
  ['sandbox clock', 'sandbox clock +1h'],
  ['sandbox requests', 'sandbox requests'],
  ['sandbox openapi', 'sandbox openapi --jq keys'],
  ['api', 'api GET /logs/entity-types'],
  ['whoami', 'whoami'],
  ['doctor', 'doctor'],
  ['profile list', 'profile list'],
  ['profile show', 'profile show'],
  ['completion install', 'completion install --dry-run'],
  ['commands', 'commands'],
];

/** Commands that go on until they are ended; they have a test of their own below. */
const LASTING = ['events listen', 'events replay', 'events trigger', 'sandbox start'];

/** Files and directories of the test. */
const OURS = /^(\w+\.(csv|json)|audit|split)$/;

const directory = mkdtempSync(join(tmpdir(), 'svc-shapes-'));
const home = new Home();
/** One for all: each command comes after the one before it. */
const clock = new FakeClock();
const snapshot = fileURLToPath(new URL('shapes.txt', import.meta.url));

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
  home.remove();
});

describe('what commands print for programs', () => {
  it('keeps its names and types: shapes.txt', { timeout: 180_000 }, async () => {
    cpSync(
      fileURLToPath(new URL('../../src/sandbox/data/tokens.csv', import.meta.url)),
      join(directory, 'tokens.csv'),
    );
    const given = new Map<string, string>();
    const shapes: string[] = [];
    const unknown: string[] = [];
    const commands = new Map(
      (await allCommands()).map(({ words, command }) => [words, command.fields ?? []]),
    );
    for (const [title, line, keeps] of LINES) {
      const typed = line.replaceAll(/\{(\w+)\}/g, (_, name: string) => given.get(name) ?? `no-${name}`);
      const printed = await print(
        typed.split(' ').map((word) => (OURS.test(word) ? join(directory, word) : word)),
      );
      if (title === '3ds template') writeFileSync(join(directory, 'body.json'), JSON.stringify(printed));
      if (keeps) given.set(keeps[0], String(at(printed, keeps[1])));
      shapes.push(`svc ${title}`, ...shapeOf(printed), '');
      unknown.push(...unknownFields(commands.get(title.split(/ <|, | --/)[0] ?? '') ?? [], printed, title));
    }
    expect(unknown, 'printed, but not among the `fields` of the command').toEqual([]);
    for (const [title, printed] of await lasting()) shapes.push(`svc ${title}`, ...shapeOf(printed), '');
    await expect(shapes.join('\n')).toMatchFileSnapshot(snapshot);
  });

  it('is shown here for every command that has fields', async () => {
    const shown = new Set([...LINES.map(([title]) => title.split(' <')[0]), ...LASTING]);
    const missing = (await allCommands())
      .filter(({ command }) => command.fields !== undefined)
      .map(({ words }) => words)
      .filter((words) => !shown.has(words));
    expect(
      missing,
      'what these print is not watched: add a line to LINES in test/e2e/shapes.test.ts and run vitest with --update',
    ).toEqual([]);
  });
});

async function print(argv: readonly string[]): Promise<unknown> {
  const output = argv.includes('--jq') ? [] : ['-o', 'json'];
  const { code, stdout, stderr } = await svcHere(['--sandbox', ...argv, ...output], {
    cwd: directory,
    clock,
    env: { SVC_STATE_DIR: join(directory, 'state'), SHELL: '/bin/bash' },
  });
  expect({ line: argv.join(' '), code, stderr: code === 0 ? '' : stderr }).toEqual({
    line: argv.join(' '),
    code: 0,
    stderr: '',
  });
  return JSON.parse(stdout) as unknown;
}

async function lasting(): Promise<[title: string, printed: unknown][]> {
  const server = home.start(['sandbox', 'start', '--port', '0', '-o', 'json']);
  const ready = await firstOutput(server.stdout);
  server.kill('SIGTERM');
  const listener = home.start([
    'events',
    'listen',
    '--port',
    '0',
    '--max',
    '1',
    '--journal',
    'j.jsonl',
    '-o',
    'json',
  ]);
  const listening = finished(listener);
  const address = /http:\/\/\S+?(?=[\s,;]|$)/.exec(await firstOutput(listener.stderr))?.[0] ?? '';
  const sent = await home.svc([
    'events',
    'trigger',
    'account-updater.job.completed',
    '--forward-to',
    address,
    '-o',
    'json',
  ]);
  const { stdout } = await listening;
  const again = home.start(['events', 'listen', '--port', '0', '--max', '1', '-o', 'json']);
  const heard = finished(again);
  const target = /http:\/\/\S+?(?=[\s,;]|$)/.exec(await firstOutput(again.stderr))?.[0] ?? '';
  const replayed = await home.svc(['events', 'replay', 'j.jsonl', '--forward-to', target, '-o', 'json']);
  await heard;
  return [
    ['sandbox start', JSON.parse(ready)],
    ['events trigger', JSON.parse(sent.stdout)],
    ['events listen', JSON.parse(stdout)],
    ['events replay', JSON.parse(replayed.stdout)],
  ];
}

/** Paths of what was printed that the fields of the command do not cover. */
function unknownFields(fields: readonly string[], printed: unknown, title: string): string[] {
  const rows = Array.isArray(printed) ? printed : [printed];
  const isKnown = (path: string): boolean =>
    fields.some(
      (field) =>
        field === '*' ||
        path === field ||
        path.startsWith(`${field}.`) ||
        (field.endsWith('.*') && path.startsWith(field.slice(0, -1))),
    );
  const paths = new Set(rows.flatMap((row) => leafPaths(row)));
  return [...paths].filter((path) => !isKnown(path)).map((path) => `svc ${title}: ${path}`);
}

async function firstOutput(stream: NodeJS.ReadableStream): Promise<string> {
  const [chunk] = (await once(stream, 'data')) as [Buffer];
  return chunk.toString();
}

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((inner, key) => new Map(Object.entries(inner ?? {})).get(key), value);
}

/** A line for each path, with the types of its values; `[]` stands for every item of a list. */
function shapeOf(value: unknown): string[] {
  const types = new Map<string, Set<string>>();
  collect(value, '', types);
  return [...types]
    .map(([path, kinds]) => `  ${path === '' ? '.' : path}: ${[...kinds].toSorted().join(' or ')}`)
    .toSorted();
}

function collect(value: unknown, path: string, types: Map<string, Set<string>>): void {
  const kind = Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
  types.set(path, (types.get(path) ?? new Set()).add(kind));
  if (Array.isArray(value)) for (const item of value) collect(item, `${path}[]`, types);
  else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) collect(member, `${path}.${key}`, types);
}
