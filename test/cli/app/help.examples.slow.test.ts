import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isInstalled } from '../../../src/base/files/names.ts';
import { topicPage, type TopicName, TOPICS } from '../../../src/cli/app/topics.ts';
import { allCommands } from '../../support/tree.ts';
import { temporaryDirectory } from '../../support/directory.ts';
import { PROGRAM } from '../../../src/tree.ts';

/** The command lines of all examples in help. */
async function exampleLines(): Promise<string[]> {
  const ofCommands = (await allCommands()).flatMap(({ command }) => command.examples);
  const pages = await Promise.all(Object.keys(TOPICS).map((topic) => topicPage(topic as TopicName)));
  const ofTopics = pages.flatMap(({ sections }) => sections.flatMap(({ examples = [] }) => examples));
  return [...PROGRAM.examples, ...ofCommands, ...ofTopics].map(([line]) => line);
}

/** Interactive shells without the settings of their user, as on a new machine. */
const SHELLS = { zsh: ['-f', '-i'], bash: ['--norc', '--noprofile', '-i'] };

// No program is found on this PATH, so that nothing of an example runs; the shell only has to understand it.
const PREPARE = `svc() { printf '%s\\n' "$number" >> calls; }
command_not_found_handler() { return 0; }
command_not_found_handle() { return 0; }
`;

for (const [shell, options] of Object.entries(SHELLS))
  it.skipIf(!isInstalled(shell, process.env))(
    `each example of help is understood by ${shell} without settings, which calls svc`,
    async () => {
      const directory = temporaryDirectory();
      mkdirSync(join(directory, 'requests'));
      for (const name of ['key.txt', 'requests/1.csv']) writeFileSync(join(directory, name), '');
      const program = spawnSync('sh', ['-c', `command -v ${shell}`], { encoding: 'utf8' }).stdout.trim();
      const lines = (await exampleLines()).map((line) => line.replaceAll('…', '00'));
      const { stderr } = spawnSync(program, options, {
        cwd: directory,
        env: { HOME: directory, PATH: join(directory, 'nothing'), TERM: 'dumb', PS1: '', PS2: '', PROMPT: '' },
        input: PREPARE + lines.map((line, number) => `number=${number}\n${line}\n`).join(''),
        encoding: 'utf8',
      });
      const calls = new Set(readFileSync(join(directory, 'calls'), 'utf8').split('\n'));
      expect(lines.filter((_, number) => !calls.has(String(number)))).toEqual([]);
      expect(stderr).not.toMatch(/error|bad pattern|no matches|unmatched/);
    },
  );
