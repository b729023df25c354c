import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseSourceFile, readSourceFiles, type Import, type SourceFile } from '../support/source-file.ts';
import { allCommands } from '../support/tree.ts';

/** The first words of commands that have a folder. The files of all other commands are in general/. */
const FEATURES = ['logs', 'au', '3ds', 'tenant', 'events', 'sandbox'];

/**
 * The layers of src/, from the top down. A file imports from its own layer and from lower rows, never from a higher row
 * or from a neighbor in its row: no feature imports another. The cli, the client and the base span several rows.
 */
const ROWS = [
  ['process.ts'],
  ['main.ts'],
  ['tree.ts'],
  ['general'],
  FEATURES,
  ['cli/app'],
  ['cli/output'],
  ['cli/config'],
  ['cli/glossary'],
  ['client/store'],
  ['client/api', 'client/transfer', 'client/webhooks'],
  ['client/http'],
  ['base/files'],
  ['base/security'],
  ['base/json'],
  ['base'],
  ['schema'],
];

const BASE = ['base/files', 'base/security', 'base/json', 'base', 'schema'];
const CLIENT = ['client/api', 'client/transfer', 'client/http'];

/** Layers that may import less than their rows allow. */
const ONLY: Readonly<Record<string, readonly string[]>> = {
  'index.ts': ['au', 'logs', ...CLIENT, ...BASE],
  'client/api': ['client/http', ...BASE],
  emulator: ['schema'],
  schema: [],
  base: ['schema'],
};

/** The only packages that these layers may import. All layers but schema may import `node:` modules. */
const ONLY_PACKAGES: Readonly<Record<string, readonly string[]>> = { emulator: [], schema: ['zod'], base: [] };

/** The files that every start runs. Their static imports load before the tool knows which command to run. */
const START = ['process.ts', 'cli/app/run.ts'];

const PACKAGES_AT_START = new Set(['commander']);

/** The files that may load the emulated service, so that other commands start without it. */
const MAY_LOAD_EMULATOR = /^(cli\/app\/embedded-sandbox\.ts|3ds\/session-card\.ts|sandbox\/)/;

const MAY_WRITE_TO_STREAMS = /^(process\.ts|cli\/output\/)/;

const TREE = 'tree.ts';

/** The only file that starts processes, so that none inherits a key. */
const STARTS_PROCESSES = 'base/security/child-process.ts';

/** The only file that ends an exchange, so that no failure is replaced by an earlier success. */
const ENDS_EXCHANGES = 'client/http/receiver.ts';

/**
 * The files that may open files. Whatever lies at a path, of any type and size, must not block a command: base/files/
 * takes care of that for state, config and cache. The others read files that the operator names, or the system's.
 */
const MAY_OPEN_FILES = new RegExp(
  `^(${[
    'base/files/',
    // The emulator is the service, not the tool.
    'emulator/',
    // These open request files, results and archives, the journal of webhook events.
    'client/transfer/(source|copy|part-file)\\.ts',
    'client/store/directory-store\\.ts',
    'events/journal\\.ts',
    // This one reads the process's own entries in /proc.
    'cli/output/output\\.ts',
  ].join('|')})`,
);

const SHAPELESS_NAME = /(^|\/)(utils?|helpers?|misc|common)(\.ts|\/|$)/;

function violations(files: readonly SourceFile[]): string[] {
  return [...files.flatMap((file) => [...fileRules(file), ...importRules(file)]), ...startUpRule(files)];
}

function fileRules({ path, ...file }: SourceFile): string[] {
  const broken: [boolean, string][] = [
    [file.mentionsProcess && path !== 'process.ts', 'only src/process.ts mentions process'],
    [file.writesToStreams && !MAY_WRITE_TO_STREAMS.test(path), 'only cli/output/ writes to streams'],
    [file.hasDefaultExport, 'exports have names'],
    [file.opensFiles && !MAY_OPEN_FILES.test(path), 'only base/files/ opens files of state, config and cache'],
    [path.endsWith('/index.ts'), 'src/index.ts is the only index: import the file itself'],
    [file.handlesResponses && path !== ENDS_EXCHANGES, `only ${ENDS_EXCHANGES} ends an exchange`],
    [file.setsEnd > 1 && path === ENDS_EXCHANGES, 'one statement ends an exchange'],
    [SHAPELESS_NAME.test(path), 'a file is named for what it does'],
    [layerOf(path) === undefined, 'the layer has no row in test/project/layers.test.ts'],
  ];
  return broken.flatMap(([isBroken, rule]) => (isBroken ? [`${path}: ${rule}`] : []));
}

function importRules(file: SourceFile): string[] {
  return file.imports.flatMap((found) => {
    const rule = found.target === undefined ? packageRule(file.path, found) : layerRule(file.path, found);
    return rule === undefined ? [] : [`${file.path} imports ${found.specifier}: ${rule}`];
  });
}

function packageRule(path: string, { specifier, kind }: Import): string | undefined {
  if (specifier === '(computed)') return 'an import names its file';
  if (/^(node:)?process$/.test(specifier) && path !== 'process.ts') return 'only src/process.ts mentions process';
  if (/^(node:)?(child_process|cluster)$/.test(specifier) && kind !== 'type' && path !== STARTS_PROCESSES)
    return `only ${STARTS_PROCESSES} starts processes`;
  const layer = layerOf(path) ?? '';
  if (specifier.startsWith('node:')) return layer === 'schema' ? 'schema/ imports zod only' : undefined;
  const allowed = ONLY_PACKAGES[layer];
  if (allowed === undefined || allowed.includes(packageName(specifier))) return undefined;
  return `${layer} imports ${allowed.join(' and ') || 'no'} packages only`;
}

function layerRule(path: string, { target = '', kind }: Import): string | undefined {
  const [from, to] = [layerOf(path), layerOf(target)];
  if (from === undefined || to === undefined || from === to) return undefined;
  if (to === 'emulator') {
    if (!MAY_LOAD_EMULATOR.test(path)) return 'only embedded-sandbox.ts, test-cards.ts and sandbox/ load the emulator';
    return kind === 'static' ? 'the emulator is loaded by a dynamic import' : undefined;
  }
  const only = ONLY[from];
  if (only !== undefined) {
    return only.includes(to) ? undefined : `${from} imports ${only.join(', ') || 'nothing'} only`;
  }
  return rowOf(to) > rowOf(from) ? undefined : `imports go down, and ${to} is not below ${from}`;
}

/** Follows the imports that load at every start, and returns those of packages that must not load then. */
function startUpRule(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const seen = new Set(START);
  const found: string[] = [];
  for (const path of seen) {
    for (const { specifier, target, kind } of byPath.get(path)?.imports ?? []) {
      if (kind !== 'static') continue;
      if (target !== undefined) seen.add(target);
      else if (!specifier.startsWith('node:') && !PACKAGES_AT_START.has(packageName(specifier)))
        found.push(`${path} imports ${specifier}: loaded at every start, so import it dynamically`);
    }
  }
  return found;
}

/** Finds slow imports of what completion loads while a command is typed: of the tree, and of each command's file. */
function completionRule(files: readonly SourceFile[]): string[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const named = byPath.get(TREE)?.imports.flatMap(({ target }) => target ?? []) ?? [];
  return [...new Set([TREE, ...named])].flatMap((start) => {
    const seen = new Set([start]);
    const found: string[] = [];
    for (const path of seen) {
      for (const { specifier, target, kind } of byPath.get(path)?.imports ?? []) {
        if (kind !== 'static') continue;
        if (target !== undefined) seen.add(target);
        else if (!isQuick(specifier))
          found.push(`${path} imports ${specifier}: ${start} loads it when TAB is pressed, so import it in run`);
      }
    }
    return found;
  });
}

const SLOW_MODULES = new Set(['node:child_process', 'node:http', 'node:worker_threads', 'node:zlib']);

/** Packages that load within a millisecond. */
const QUICK_PACKAGES = new Set(['csv-stringify', 'jsonc-parser']);

function isQuick(specifier: string): boolean {
  return specifier.startsWith('node:') ? !SLOW_MODULES.has(specifier) : QUICK_PACKAGES.has(packageName(specifier));
}

/** Returns the longest folder of a path that has a row; a new folder directly in src has none. */
function layerOf(path: string): string | undefined {
  const parts = path.split('/');
  const known = new Set([...ROWS.flat(), ...Object.keys(ONLY)]);
  for (let count = parts.length; count > 0; count -= 1) {
    const folder = parts.slice(0, count).join('/');
    if (known.has(folder)) return folder;
  }
  return undefined;
}

function rowOf(layer: string): number {
  return ROWS.findIndex((row) => row.some((name) => name === layer));
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Source text that breaks one rule, the file where it would stand, and words of the rule. */
const BROKEN: Readonly<Record<string, readonly [path: string, rule: string]>> = {
  [`import { x } from '../../logs/entry.ts'`]: ['client/api/logs.ts', 'client/api imports client/http'],
  [`import type { X } from '../../cli/output/out.ts'`]: ['client/api/store.ts', 'client/api imports client/http'],
  [`export * from '../cli/flags.ts'`]: ['context/x.ts', 'has no row'],
  [`import { x } from '../logs/entry.ts'`]: ['au/x.ts', 'imports go down'],
  [`import { x } from '../general/login.ts'`]: ['au/x.ts', 'imports go down'],
  [`export { x } from '../app/flags.ts'`]: ['cli/output/x.ts', 'imports go down'],
  [`const x = await import('../../main.ts')`]: ['logs/commands/x.ts', 'imports go down'],
  [`type X = import('../../cli/config/file.ts').X`]: ['client/http/core.ts', 'imports go down'],
  [`import { x } from '../base/errors.ts'`]: ['emulator/app.ts', 'emulator imports schema only'],
  [`import { x } from '../base/clock.ts'`]: ['schema/job.ts', 'schema imports nothing only'],
  [`import 'node:fs'`]: ['schema/log.ts', 'zod only'],
  [`import { z } from 'zod'`]: ['base/errors.ts', 'no packages only'],
  [`import { Agent } from 'undici'`]: ['emulator/store.ts', 'no packages only'],
  [`import { x } from '../client/http/core.ts'`]: ['base/clock.ts', 'base imports schema only'],
  [`import { x } from './cli/config/file.ts'`]: ['index.ts', 'index.ts imports au, logs, client/api'],
  [`import { x } from '../../emulator/app.ts'`]: ['cli/app/embedded-sandbox.ts', 'by a dynamic import'],
  [`await import('../../emulator/app.ts')`]: ['cli/output/y.ts', 'load the emulator'],
  [`const home = process.env.HOME`]: ['cli/config/paths.ts', 'mentions process'],
  [`import { env } from 'node:process'`]: ['cli/config/env.ts', 'mentions process'],
  [`globalThis.process.exit(1)`]: ['main.ts', 'mentions process'],
  [`import { spawn } from 'node:child_process'`]: ['cli/output/pager.ts', 'starts processes'],
  [`const { fork } = await import('child_process')`]: ['sandbox/commands/x.ts', 'starts processes'],
  [`import { type ChildProcess, execFile } from 'node:child_process'`]: ['cli/config/x.ts', 'starts processes'],
  [`export { spawn } from 'node:child_process'`]: ['base/security/x.ts', 'starts processes'],
  [`import cluster from 'node:cluster'`]: ['process.ts', 'starts processes'],
  [`await import(name)`]: ['general/commands/load.ts', 'names its file'],
  [`context.system.stdout.write('x')`]: ['logs/commands/list.ts', 'writes to streams'],
  [`rows.pipe(stdout)`]: ['logs/commands/all.ts', 'writes to streams'],
  [`console.log('x')`]: ['logs/table.ts', 'writes to streams'],
  [`class A { onResponseEnd() {} }`]: ['client/http/handler.ts', 'only client/http/receiver.ts ends an exchange'],
  [`class A { #end; a() { this.#end ??= 1; } b() { this.#end = 2; } }`]: [
    'client/http/receiver.ts',
    'one statement ends an exchange',
  ],
  [`import fs from 'node:fs'; fs.readFileSync(file)`]: ['cli/config/cache.ts', 'only base/files/ opens files'],
  [`import nodeFs from 'fs'; await nodeFs.promises.open(file)`]: ['cli/app/x.ts', 'only base/files/ opens files'],
  [`import { appendFileSync as add } from 'node:fs'; add(file, line)`]: ['logs/x.ts', 'only base/files/ opens files'],
  [`import { readFile } from 'node:fs/promises'`]: ['au/x.ts', 'only base/files/ opens files'],
  [`export default 1`]: ['cli/output/bars.ts', 'exports have names'],
  [`export const a = 1`]: ['client/api/index.ts', 'only index'],
  [`export const b = 1`]: ['cli/app/utils.ts', 'named for what it does'],
};

describe('the layers of src/', () => {
  const root = fileURLToPath(new URL('../../src/', import.meta.url));

  it('R70 and R81: imports go down, one folder writes to streams, one reads state, one place ends an exchange', () => {
    const files = readSourceFiles(root);
    expect(files.length).toBeGreaterThan(20);
    expect(violations(files)).toEqual([]);
  });

  it('the layers of src/ keep what takes long out of what completion loads', () => {
    const files = readSourceFiles(root);
    expect(completionRule(files)).toEqual([]);
    const slow = [
      parseSourceFile('tree.ts', `const { b } = await import('./logs/b.ts');`),
      parseSourceFile('logs/b.ts', `import { z } from 'zod'; await import('undici');`),
    ];
    expect(completionRule(slow)).toEqual([expect.stringContaining('logs/b.ts imports zod')]);
  });

  it.each(Object.entries(BROKEN))('the layers of src/ refuse `%s` in %s', (code, [path, rule]) => {
    expect(violations([parseSourceFile(path, code)])).toEqual([expect.stringContaining(rule)]);
  });

  it('the layers of src/ see through a chain of imports to what loads at every start', () => {
    const files = [
      parseSourceFile('process.ts', `import { main } from './main.ts'; import type { A } from 'zod';`),
      parseSourceFile('main.ts', `import { say } from './cli/app/say.ts'; import 'node:fs';`),
      parseSourceFile('cli/app/say.ts', `import 'commander'; import 'undici'; await import('conf');`),
      parseSourceFile('logs/commands/other.ts', `import 'ora';`),
    ];
    expect(violations(files)).toEqual([expect.stringMatching(/^cli\/app\/say\.ts imports undici: loaded at every/)]);
  });

  it('the layers of src/ allow what they should', () => {
    const files = [
      parseSourceFile('logs/commands/tail.ts', `import { x } from '../../client/api/logs.ts'; stream.write('x');`),
      parseSourceFile(
        'sandbox/commands/a.ts',
        `import('../../emulator/a.ts'); type T = import('../../emulator/b.ts').T`,
      ),
      parseSourceFile('emulator/app.ts', `import { Server } from 'node:http'; import { job } from '../schema/job.ts';`),
      parseSourceFile('cli/output/out.ts', `system.stdout.write('x');`),
      parseSourceFile('base/errors.ts', `import { createHash } from 'node:crypto'; import { y } from './clock.ts';`),
    ];
    expect(violations(files)).toEqual([]);
  });

  it('the layers of src/ give every word of the tree the file that follows from it, which nothing else imports', async () => {
    const sources = readSourceFiles(root);
    const tree = sources.find(({ path }) => path === TREE)?.imports ?? [];
    const leaves = tree.flatMap(({ target = '', kind }) =>
      kind === 'dynamic' && target.includes('/commands/') ? [target] : [],
    );
    const words = (await allCommands()).map(({ words: typed }) => typed.split(' '));
    const expected = words.map(([first = '', ...rest]) =>
      FEATURES.includes(first)
        ? `${first}/commands/${rest.join('/')}.ts`
        : `general/commands/${[first, ...rest].join('/')}.ts`,
    );
    // `svc completion` has a word for each shell that it knows.
    const files = expected.map((path) => path.replace(/(commands\/completion)\/.*/, '$1.ts'));
    expect(new Set(leaves)).toEqual(new Set([...files, 'general/commands/welcome.ts']));
    const isLeaf = new Set(leaves);
    const borrowed = sources.flatMap(({ path, imports }) =>
      imports.flatMap(({ target = '' }) => (path !== TREE && isLeaf.has(target) ? [`${path} imports ${target}`] : [])),
    );
    expect(borrowed).toEqual([]);
  });
});

/** What stands in one folder, files and folders, each with those beside it that it imports. */
type Neighbors = Map<string, Set<string>>;

/** Returns the circles of src/: of what stands side by side in a folder, one whose imports lead back to itself. */
function circles(files: readonly SourceFile[]): string[] {
  return [...neighborsByFolder(files)].flatMap(([folder, neighbors]) => {
    const known = new Set<string>();
    return [...neighbors.keys()].flatMap((name) => {
      const circle = known.has(name) ? undefined : wayBack(neighbors, name);
      for (const member of circle ?? []) known.add(member);
      return circle === undefined ? [] : [`${folder}: ${[...circle, name].join(' → ')}`];
    });
  });
}

function neighborsByFolder(files: readonly SourceFile[]): Map<string, Neighbors> {
  const folders = new Map<string, Neighbors>();
  for (const { path, imports } of files) {
    for (const { target } of imports) {
      if (target === undefined) continue;
      const { folder, from, to } = whereTheyPart(path, target);
      const neighbors = folders.get(folder) ?? new Map<string, Set<string>>();
      folders.set(folder, neighbors.set(from, (neighbors.get(from) ?? new Set()).add(to)));
    }
  }
  return folders;
}

/** Returns the innermost folder that contains both files, and the names in it that lead to each. */
function whereTheyPart(path: string, target: string) {
  const [one, other] = [path.split('/'), target.split('/')];
  const depth = one.findIndex((name, at) => name !== other[at]);
  return { folder: ['src', ...one.slice(0, depth)].join('/'), from: one[depth] ?? '', to: other[depth] ?? '' };
}

/** Finds the shortest way from a name back to itself; undefined if there is none. */
function wayBack(neighbors: Neighbors, start: string): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (const name of queue) {
    for (const next of neighbors.get(name) ?? []) {
      if (next === start) return wayTo(name, cameFrom);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, name);
      queue.push(next);
    }
  }
  return undefined;
}

function wayTo(name: string, cameFrom: ReadonlyMap<string, string>): string[] {
  const before = cameFrom.get(name);
  return before === undefined ? [name] : [...wayTo(before, cameFrom), name];
}

function sources(texts: Readonly<Record<string, string>>): SourceFile[] {
  return Object.entries(texts).map(([path, text]) => parseSourceFile(path, text));
}

describe('the folders of src/', () => {
  it('what stands side by side in a folder of src/ imports one another in no circle, types and dynamic imports included', () => {
    const files = readSourceFiles(fileURLToPath(new URL('../../src/', import.meta.url)));
    expect(files.length).toBeGreaterThan(400);
    expect(circles(files)).toEqual([]);
  });

  it.each([
    ['values', `import { b } from '../b/x.ts'`, `import { a } from '../a/y.ts'`],
    ['types', `import type { B } from '../b/x.ts'`, `export type { A } from '../a/y.ts'`],
    ['dynamic imports', `await import('../b/x.ts')`, `type A = import('../a/y.ts').A`],
  ])('two folders that import one another are a circle: %s', (_, one, other) => {
    expect(circles(sources({ 'au/a/x.ts': one, 'au/b/y.ts': other }))).toEqual(['src/au: a → b → a']);
  });

  it('a folder that imports a file above it, which imports the folder, is a circle', () => {
    const files = sources({
      'au/all.ts': `import './a/x.ts'`,
      'au/a/y.ts': `import '../b/z.ts'`,
      'au/b/z.ts': `import '../all.ts'`,
    });
    expect(circles(files)).toEqual(['src/au: all.ts → a → b → all.ts']);
  });

  it('a file may compose folders that share another file', () => {
    const files = sources({
      'au/all.ts': `import './a/x.ts'; import './b/x.ts'`,
      'au/a/x.ts': `import '../common.ts'; import '../b/x.ts'`,
      'au/b/x.ts': `import '../common.ts'`,
    });
    expect(circles(files)).toEqual([]);
  });
});
