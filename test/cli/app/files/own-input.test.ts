import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { optionWords, type Parameter } from '../../../../src/cli/app/parameter.ts';
import { errorIn, svcHere } from '../../../support/run-here.ts';
import { allCommands } from '../../../support/tree.ts';
import { temporaryDirectory } from '../../../support/directory.ts';

/** Names for a file in `read/`: as typed for the other parameter, relative, absolute, and by links. */
const NAMES: Readonly<Record<string, (file: string, cwd: string) => string>> = {
  'the same path': (file) => file,
  'a longer relative path': (file) => `read/../${file}`,
  'its absolute path': (file, cwd) => path.join(cwd, file),
  'a symlink': (file, cwd) => {
    fs.symlinkSync(file, path.join(cwd, 'symlink.csv'));
    return 'symlink.csv';
  },
  'a hard link': (file, cwd) => {
    fs.linkSync(path.join(cwd, file), path.join(cwd, 'hard-link.csv'));
    return 'hard-link.csv';
  },
};

const FORCE = '--force';

/** Placeholders of files and directories that a command reads or writes. */
const FILE = /[<[](?:file|dir|export|request|results|location|journal)\b/;
/** Directories that a command fills with its own files. */
const OWN_DIRECTORY = /^(?:--(?:directory|run-dir|out-dir|split-into) |\[dir\])/;

async function parametersWithFiles() {
  const commands = await allCommands();
  return commands.flatMap(({ words, command }) =>
    Object.entries(command.parameters).map(([key, parameter]) => ({ words, command, key, parameter })),
  );
}

/** Each command with an output, and each pair of that output and another file of the command. */
async function pairs() {
  const found = await parametersWithFiles();
  return found
    .filter(({ parameter }) => parameter.file === 'written' || parameter.file === 'extended')
    .flatMap(({ words, command, key, parameter: output }) =>
      Object.entries(command.parameters)
        .filter(([name, { file }]) => name !== key && file !== undefined)
        .map(([, input]) => ({ words, command, output, input })),
    );
}

/** Returns the words of one parameter with a value. */
function typed(parameter: Parameter<unknown>, value: string): string[] {
  const word = optionWords(parameter).at(-1);
  return word === undefined ? [value] : [word, value];
}

function newDirectory(...files: readonly string[]): string {
  const directory = temporaryDirectory();
  fs.mkdirSync(path.join(directory, 'read'));
  for (const name of files) fs.writeFileSync(path.join(directory, name), 'precious\n');
  return directory;
}

/** Runs a command line, and returns how it ended and which of the files in `read/` are not as before. */
async function outcomeOf(argv: readonly string[], cwd: string, input?: fs.ReadStream) {
  const outcome = await svcHere(argv, { cwd, env: { SVC_PROFILE: 'sandbox' }, ...(input && { input }) });
  const contentOf = (name: string): string => fs.readFileSync(path.join(cwd, 'read', name), 'utf8');
  const changed = fs.readdirSync(path.join(cwd, 'read')).filter((name) => contentOf(name) !== 'precious\n');
  return { line: argv.join(' '), code: outcome.code, message: errorIn(outcome)['message'], changed };
}

const REFUSED = { code: 2, message: expect.stringMatching(/ would replace .*, which is also /), changed: [] };

describe('a command with inputs and outputs', () => {
  it('an input is declared as such by each parameter that names a file or directory', async () => {
    const undeclared = (await parametersWithFiles()).filter(
      ({ parameter: { syntax, file } }) => FILE.test(syntax) && file === undefined && !OWN_DIRECTORY.test(syntax),
    );
    expect(undeclared.map(({ words, parameter }) => `${words} ${parameter.syntax}`)).toEqual([]);
  });

  it.each(Object.keys(NAMES))(
    'R89: an input is never replaced under %s, by any command with an output',
    async (how) => {
      const all = await pairs();
      expect(all.length).toBeGreaterThan(20);
      for (const { words, command, output, input } of all) {
        // An archive is a directory: a link to one of its files can be replaced without a change to it.
        const isDirectory = /[<[](?:dir|location)/.test(input.syntax);
        if (isDirectory && how === 'a hard link') continue;
        const cwd = newDirectory('read/file.csv');
        const others = Object.values(command.parameters).filter(
          (each) => each.kind === 'argument' && each !== input && each.syntax.startsWith('<'),
        );
        const argv = [
          ...words.split(' '),
          ...typed(input, isDirectory ? 'read' : 'read/file.csv'),
          ...others.map(() => 'another'),
          ...typed(output, NAMES[how]!('read/file.csv', cwd)),
          ...('force' in command.parameters ? [FORCE] : []),
        ];
        expect(await outcomeOf(argv, cwd)).toMatchObject(REFUSED);
      }
    },
  );

  it('R89: an input is never replaced when it is standard input', async () => {
    const cwd = newDirectory('read/file.csv');
    const input = fs.createReadStream('', { fd: fs.openSync(path.join(cwd, 'read/file.csv'), 'r') });
    expect(await outcomeOf(['au', 'prepare', '-', '--out', 'read/file.csv', FORCE], cwd, input)).toMatchObject(REFUSED);
  });

  it.each([
    ['au prepare read/tokens.keep.csv --out read/tokens.csv --keep id --force', 'tokens.keep.csv'],
    ['au next read/tokens.csv read/tokens.next.csv --force', 'tokens.next.csv'],
    ['au next read/tokens.csv read/results.csv --keep read/next.keep.csv --out read/next.csv --force', 'next.keep.csv'],
    ['au report read/contact.csv --split-into read --force', 'contact.csv'],
  ])('R89: an input is never replaced by an output whose name is derived: svc %s', async (line, name) => {
    const cwd = newDirectory('read/tokens.csv', 'read/results.csv', `read/${name}`);
    expect(await outcomeOf(line.split(' '), cwd)).toMatchObject(REFUSED);
  });

  it('R89: the error about an output that is an input names it, another name, and says that --force does not help', async () => {
    const cwd = newDirectory('read/file.csv');
    const outcome = await svcHere(['au', 'prepare', 'read/file.csv', '--out', 'read/file.csv'], { cwd });
    expect(errorIn(outcome)).toMatchObject({
      code: 'usage',
      message: '--out would replace read/file.csv, which is also <export>',
      hint: 'A command never replaces its own input, not even with --force. Give --out another name, such as file.new.csv.',
    });
  });
});
