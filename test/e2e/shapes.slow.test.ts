import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { leafPaths } from '../../src/cli/output/view.ts';
import { COMMAND_LINES, exitCodeOf } from '../support/command-lines.ts';
import { finished, Home } from '../support/svc.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';

/** Lines whose output differs from the command's usual line: with other options, or on another kind of object. */
const VARIANTS: readonly (readonly [title: string, line: string])[] = [
  ['logs stats <archive>', 'logs stats audit --since 2d'],
  ['logs review --access', 'logs review audit --access'],
  ['sandbox cards --3ds', 'sandbox cards --3ds'],
  ['au submit --dry-run', 'au submit other.csv --dry-run --pay-again'],
  ['au submit, not waited for', 'au submit other.csv --pay-again'],
  ['au status <job>', 'au status {done}'],
  ['au resume <job> --wait', 'au resume {done} --wait'],
  ['au report --split-into', 'au report results.csv --request tokens.csv --split-into split'],
  ['completion install --dry-run', 'completion install --shell bash --dry-run'],
];

/** Commands that run until they are stopped, and commands that need one: tested separately. */
const ELSEWHERE: ReadonlySet<string> = new Set(['events listen', 'events replay', 'events trigger', 'sandbox start']);

const home = new Home();
let world: World;
const snapshot = fileURLToPath(new URL('shapes.txt', import.meta.url));

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

describe('what commands print for programs', () => {
  it('output for programs keeps its names and types: shapes.txt', async () => {
    const commands = (await allCommands()).filter(
      ({ words, command }) => command.fields !== undefined && !ELSEWHERE.has(words),
    );
    const fields = new Map(commands.map(({ words, command }) => [words, command.fields ?? []]));
    const own = commands.map(({ words }) => [words, COMMAND_LINES[words] ?? words] as const);
    const shapes: string[] = [];
    const unknown: string[] = [];
    for (const [title, line] of [...own, ...VARIANTS]) {
      const printed = await print(line);
      shapes.push(`svc ${title}`, ...shapeOf(printed), '');
      unknown.push(...unknownFields(fields.get(title.split(/ <|, | --/)[0] ?? '') ?? [], printed, title));
    }
    expect(unknown, 'printed, but not among the `fields` of the command').toEqual([]);
    for (const [title, printed] of await lasting()) shapes.push(`svc ${title}`, ...shapeOf(printed), '');
    await expect(shapes.join('\n')).toMatchFileSnapshot(snapshot);
  });
});

async function print(line: string): Promise<unknown> {
  const output = line.includes('--jq') ? [] : ['-o', 'json'];
  const argv = line.split(' ').map((word) => world.fill(word));
  const { code, stdout, stderr } = await world.run('', output, { argv });
  const due = exitCodeOf(line);
  expect({ line, code, stderr: code === due ? '' : stderr }).toEqual({ line, code: due, stderr: '' });
  return JSON.parse(stdout) as unknown;
}

async function lasting(): Promise<[title: string, printed: unknown][]> {
  const server = home.start(['sandbox', 'start', '--port', '0', '-o', 'json']);
  const ready = await firstOutput(server.stdout);
  server.kill('SIGTERM');
  const listener = home.start(['events', 'listen', '--port', '0', '--max', '1', '--journal', 'j.jsonl', '-o', 'json']);
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

/** Returns the paths of the output that the fields of the command do not cover. */
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

/** Returns a line for each path with the types of its values; `[]` stands for every item of a list. */
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
