// Finds the files of src, commander and zod that commands load together, each group of which the bundler puts into one
// file: a separate file for each would take time to find, read and compile. The groups stand in loaded-together.json; a test
// compares them with what commands load.
//   npm run groups
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { loadConfig } from 'rolldown/config';

/** The commands by which files are grouped: files that are loaded by the same ones become one file. */
const COMMANDS = {
  version: ['--version'],
  help: ['--help'],
  tab: ['__complete', 'fish', 'logs', '--'],
  local: ['profile', 'list'],
  request: ['tenant', 'show'],
  logs: ['logs', 'list'],
  check: ['au', 'check', 'requests.csv'],
  submit: ['au', 'submit', 'requests.csv'],
};

/**
 * What reports a failure, and the file with which each is loaded before there is one: a command that can open no more
 * files, or whose files an upgrade took away, can still say so. The form of JSON values is loaded by nearly all commands.
 */
const COMPANIONS = {
  'src/base/errors.ts': 'src/cli/app/command.ts',
  'src/cli/app/advice.ts': 'src/cli/app/execute.ts',
  'src/cli/output/error-report.ts': 'src/cli/app/execute.ts',
  'src/cli/app/hint.ts': 'src/cli/app/execute.ts',
  'src/cli/output/formats.ts': 'src/cli/app/execute.ts',
  'src/cli/output/view.ts': 'src/cli/app/execute.ts',
  'src/schema/json-value.ts': 'src/cli/app/execute.ts',
  // A response that comes compressed after an upgrade is read too.
  'src/client/http/encoding.ts': 'src/client/http/core.ts',
};

/** What is grouped: src, and the packages of which every command, or every request, loads several files. */
const GROUPED = /^(?:src|node_modules\/(?:commander|zod))\/|^alias-node-child_process$/;

const PROGRAM = 'cli/svc.cjs';

const root = fileURLToPath(new URL('..', import.meta.url));

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(join(root, 'build/loaded-together.json'), `${JSON.stringify(await loadedTogether(), null, 2)}\n`);

/** Resolves to the files of each group by its name, which lists the commands that load them. */
export async function loadedTogether() {
  const scratch = mkdtempSync(join(tmpdir(), 'svc-groups-'));
  try {
    await bundleEachFile(join(scratch, 'cli'));
    writeFileSync(join(scratch, 'requests.csv'), run(scratch, ['sandbox', 'cards', '--request']));
    const loading = new Map();
    for (const [name, argv] of Object.entries(COMMANDS))
      for (const file of filesLoaded(scratch, argv)) loading.set(file, [...(loading.get(file) ?? []), name]);
    return groupsOf(loading);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function groupsOf(loading) {
  const [, ...start] = Object.keys(COMMANDS);
  for (const [file, companion] of Object.entries(COMPANIONS)) loading.set(file, loading.get(companion) ?? start);
  const groups = {};
  for (const [file, commands] of [...loading].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const name = commands.length === start.length ? 'start' : commands.join('-');
    if (isGrouped(name, commands)) (groups[name] ??= []).push(file);
  }
  return Object.fromEntries(Object.entries(groups).filter(([, files]) => files.length > 1));
}

/**
 * Tells whether the bundler has to be told about the files of these commands. It puts what every start loads into the
 * entry, and what one command alone loads beside that command. Only TAB has parts without a command.
 */
function isGrouped(name, commands) {
  return commands[0] !== 'version' && (commands.length > 1 || name === 'tab');
}

/** Builds the command line as always, but each of these files into a file of its own. */
async function bundleEachFile(directory) {
  const [{ output, ...input }] = await loadConfig(join(root, 'build/rolldown.config.ts'));
  const name = (id) => {
    const path = id.replace(root, '').replace('\0', '');
    return GROUPED.test(path) ? path.replaceAll('/', '~') : null;
  };
  const codeSplitting = { ...output.codeSplitting, groups: [{ name }] };
  const bundle = await rolldown({ ...input, cwd: root });
  await bundle.write({ ...output, codeSplitting, minify: false, dir: directory, chunkFileNames: '[name].cjs' });
  await bundle.close();
}

/** Runs a command at the sandbox. Returns the files that it loaded. */
function filesLoaded(scratch, argv) {
  const [svc, recorder, record] = [PROGRAM, 'recorder.cjs', 'record'].map((name) => join(scratch, name));
  writeFileSync(
    recorder,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(record)}, Object.keys(require.cache).join('\\n')));`,
  );
  run(scratch, ['sandbox', 'exec', '--', process.execPath, '--require', recorder, svc, ...argv]);
  const loaded = readFileSync(record, 'utf8')
    .split('\n')
    .map((path) => basename(path, '.cjs').replaceAll('~', '/'));
  return loaded.filter((path) => GROUPED.test(path));
}

/** Runs svc. Returns what it printed. */
function run(scratch, argv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], {
    cwd: scratch,
    env: { PATH: process.env.PATH, HOME: scratch },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`svc ${argv.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
