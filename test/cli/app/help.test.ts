import { describe, expect, it } from 'vitest';
import { exitCodeMeanings } from '../../../build/man-pages.ts';
import { MAX_WAIT_MS } from '../../../src/au/job/wait.ts';
import { EXIT_CODES } from '../../../src/base/errors.ts';
import { DEFAULT_MAX_WAIT_MS } from '../../../src/base/system.ts';
import { exitCodesOf } from '../../../src/cli/app/command.ts';
import { GLOBAL_PARAMETERS } from '../../../src/cli/app/global-parameters.ts';
import { helpText } from '../../../src/cli/app/help.ts';
import { optionWords, type Parameter } from '../../../src/cli/app/parameter.ts';
import { parse } from '../../../src/cli/app/run.ts';
import { type TopicName, topicPage, TOPICS } from '../../../src/cli/app/topics.ts';
import { ENTITY_TYPES_FILE_NAME } from '../../../src/cli/config/cache.ts';
import { KEY_VARIABLES } from '../../../src/cli/config/keys.ts';
import { CONFIG_FILE_NAME } from '../../../src/cli/config/paths.ts';
import { OUTPUT_FORMATS, TIME_STYLES } from '../../../src/cli/config/values.ts';
import { formatDuration } from '../../../src/cli/output/time.ts';
import { formatBytes, formatNumber } from '../../../src/cli/output/number.ts';
import { KNOWN_RATES } from '../../../src/client/http/pacer.ts';
import { API_LIMITS, FILE_LIMITS } from '../../../src/client/http/watchdog.ts';
import { MAX_ATTEMPTS } from '../../../src/client/http/retry.ts';
import { RECEIVER_LIMITS } from '../../../src/client/webhooks/receiver.ts';
import {
  MAX_REQUEST_FILE_BYTES,
  MAX_REQUEST_FILE_ROWS,
  REQUEST_COLUMNS,
  RESULT_COLUMNS,
  UPLOAD_LIFE_MS,
} from '../../../src/schema/account-updater-files.ts';
import { TRIGGER_TYPES } from '../../../src/events/trigger-types.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../../src/schema/page-size.ts';
import { MAX_TENANT_NAME_LENGTH } from '../../../src/schema/tenant.ts';
import { PROGRAM, TREE } from '../../../src/tree.ts';
import { allCommands, typedWords } from '../../support/tree.ts';

const commands = await allCommands();
const lines = [
  [],
  ...TREE.map(({ name }) => [name]),
  ...commands.map(({ words }) => words.split(' ')),
  ...Object.keys(TOPICS).map((topic) => [topic]),
];

function isTopic(word: string | undefined): boolean {
  return word !== undefined && word in TOPICS && !TREE.some(({ name }) => name === word);
}

async function help(argv: readonly string[], columns = 80): Promise<string> {
  const invocation = await parse(['help', ...argv], PROGRAM);
  if (invocation.kind !== 'help') throw new Error('a command was run instead');
  return helpText(invocation, { stdout: { columns } });
}

describe('help', () => {
  it.each(lines.map((argv) => argv.join(' ')))(
    'help on "%s" begins with examples and fits 80 columns',
    async (typed) => {
      const text = await help(typed.split(' ').filter(Boolean));
      expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
      const titles = text
        .split('\n\n')
        .slice(1)
        .map((part) => part.split('\n')[0]);
      expect(typed === 'exit-codes' ? 'Examples' : titles[0]).toBe('Examples');
      expect(text.endsWith('\n')).toBe(true);
      expect(text).not.toMatch(/ \n|\n\n\n/);
    },
  );

  it('--help has at most 200 words of a command, and no more words of a group than the help of gh', async () => {
    const counts = await Promise.all(
      lines.map(async (argv) => {
        const invocation = await parse([...argv, '--help'], PROGRAM);
        if (invocation.kind !== 'help') throw new Error('a command was run instead');
        const page = await helpText(invocation, { stdout: { columns: 80 } });
        return [argv.join(' '), page.split(/\s+/).filter(Boolean).length] as const;
      }),
    );
    const most: Readonly<Record<string, number>> = { '': 221, au: 95, logs: 126 };
    expect(counts.filter(([typed, words]) => words > (most[typed] ?? 200))).toEqual([]);
  });

  it('help fits 40 columns, but for words that are longer', async () => {
    for (const argv of lines) {
      const wide = (await help(argv, 40)).split('\n').filter((line) => line.length > 40);
      const cut = wide.filter(
        (line) => line.trim().replace(/ \\$/, '').includes(' ') && !/['"]|\w+: |^ +svc|</.test(line),
      );
      expect(cut, argv.join(' ')).toEqual([]);
    }
  });

  it('help goes from examples to options, special exit codes and permissions', async () => {
    const text = await help(['au', 'resume']);
    const places = ['Examples', 'Usage', 'Arguments', 'Options', 'Exit codes', 'Permissions'].map((title) =>
      text.indexOf(`\n${title}`),
    );
    expect(places.every((place, at) => place > (places[at - 1] ?? 0))).toBe(true);
  });

  it('help explains an exit code where it is special for the command, in words of the command', async () => {
    const text = await help(['tenant', 'diff']);
    expect(text).toMatch(/^ {2}10 +the tenant differs from the file$/m);
    expect(text).not.toMatch(/^ {2}13 /m);
    expect(await help(['tenant', 'show'])).not.toContain('Exit codes');
  });

  it.each(lines.filter((argv) => !isTopic(argv[0])).map((argv) => argv.join(' ')))(
    'svc %s --help fits a screen at 80 columns',
    async (typed) => {
      const invocation = await parse([...typed.split(' ').filter(Boolean), '--help'], PROGRAM);
      if (invocation.kind !== 'help') throw new Error('a command was run instead');
      const text = await helpText(invocation, { stdout: { columns: 80 } });
      expect(text.split('\n').length - 1, 'declare options as rare, or shorten their descriptions').toBeLessThan(50);
    },
  );

  it('help of the tool shows the frequent options of every command, and help output shows all of them', async () => {
    const [tool, output] = [await help([]), await help(['output'])];
    expect(tool).toContain('--sandbox');
    expect(tool).not.toContain('--excel-safe');
    for (const { syntax } of Object.values(GLOBAL_PARAMETERS)) expect(output).toContain(`\n  ${syntax} `);
  });

  it('help on logs archive says that --keep counts from the newest entry, so that a quiet log is kept longer', async () => {
    const text = (await help(['logs', 'archive'])).replaceAll(/\s+/g, ' ');
    expect(text).toContain('older than the newest entry by 13M or 2y, so that a quiet log is kept longer');
  });

  it('help uses up to 100 columns of a wide terminal', async () => {
    const text = await help(['au', 'submit'], 200);
    const longest = Math.max(...text.split('\n').map((line) => line.length));
    expect(longest).toBeGreaterThan(80);
    expect(longest).toBeLessThanOrEqual(100);
  });

  it('help keeps a command line whole for the shell, whatever the width', async () => {
    for (const { words, command } of commands) {
      const narrow = (await help(words.split(' '), 40)).replaceAll(/ \\\n +/g, ' ');
      for (const [line] of command.examples) expect(narrow, words).toContain(line);
    }
  });

  it('help has for every command a summary, examples that parse, and what it prints', async () => {
    const nothing = commands.filter(({ command }) => command.fields === undefined).map(({ words }) => words);
    expect(
      nothing,
      'these commands have no `fields`: give those of the view that they print, or add them to PRINTS_NO_DATA',
    ).toEqual(expect.arrayContaining(nothing.filter((words) => PRINTS_NO_DATA.has(words))));
    expect(nothing.filter((words) => !PRINTS_NO_DATA.has(words))).toEqual([]);
    for (const { words, command } of commands) {
      expect(command.summary, words).toMatch(/[^.\s]$/);
      expect(command.examples.length, `svc ${words} has no example`).toBeGreaterThan(0);
      for (const [line] of command.examples)
        expect((await parse(typedWords(line), PROGRAM)).kind, `example of svc ${words}: ${line}`).toBe('run');
    }
  });

  it('help explains examples in words that no shell takes for more than words', async () => {
    const pages = await Promise.all(Object.keys(TOPICS).map((topic) => topicPage(topic as TopicName)));
    const examples = [
      ...PROGRAM.examples,
      ...commands.flatMap(({ command }) => command.examples),
      ...pages.flatMap(({ sections }) => sections.flatMap((section) => section.examples ?? [])),
    ];
    expect(examples.filter(([, does]) => /["'`;<>?*$&|#]/.test(does))).toEqual([]);
  });

  it('help knows the meaning of every exit code', async () => {
    const known = await exitCodeMeanings();
    for (const { words, command } of commands) {
      // The exit codes 126 and 127 of svc sandbox exec report that the command cannot be started, as in a shell.
      const strange = exitCodesOf(command).filter((code) => !known.has(code) && ![126, 127].includes(code));
      expect(strange, `exit codes of svc ${words}: add their meaning to docs/help/exit-codes.md`).toEqual([]);
    }
  });
});

/** Commands that print no data, so that `--fields` and `--jq` are of no use. */
const PRINTS_NO_DATA = new Set([
  ...['bash', 'zsh', 'fish', 'powershell'].map((shell) => `completion ${shell}`),
  'login',
  'logout',
  'profile delete',
  'profile set',
  'profile use',
  'sandbox exec',
  'sandbox reset',
  'tenant delete',
]);

describe('help topics', () => {
  it('R55: help topics explain every exit code that a failure can have', async () => {
    const explained = await exitCodeMeanings();
    expect(Object.values(EXIT_CODES).filter((code) => !explained.has(code))).toEqual([]);
  });

  it('help topics are named as no command is', () => {
    const names = new Set(TREE.filter(({ name }) => name in TOPICS).map(({ name }) => name));
    // The topics of these names differ from `svc sandbox --help` and `svc events --help`, which describe the commands.
    expect([...names]).toEqual(['events', 'sandbox']);
  });

  it('the first section of a help topic has nothing but its examples, which are shown as commands', async () => {
    // The page of exit codes begins with the five that scripts handle, and fits a screen.
    for (const topic of Object.keys(TOPICS).filter((name) => name !== 'exit-codes')) {
      const [first] = (await topicPage(topic as TopicName)).sections;
      expect(first, topic).toMatchObject({ title: 'Examples', examples: expect.arrayContaining([expect.anything()]) });
    }
  });

  it('help topics name options and commands that exist', async () => {
    const known = new Set([
      ...Object.values(GLOBAL_PARAMETERS).flatMap(optionWords),
      ...commands.flatMap(({ command }) => Object.values(command.parameters).flatMap(optionWords)),
    ]);
    const commandNames = new Set(commands.map(({ words }) => words));
    const groups = new Set(TREE.map(({ name }) => name));
    for (const topic of Object.keys(TOPICS)) {
      // Options in quoted commands of other programs, such as 'aws … --secret-string', are not those of svc.
      const text = (await help([topic])).replaceAll(/'([a-z][\w-]*)\s[^']*'/g, (quoted: string, program: string) =>
        program === 'svc' || groups.has(program) ? quoted : '',
      );
      const options = text.match(/(?<![\w-])--?[a-z0-9][a-z0-9-]*(?=[\s,.;:)=|'])/g) ?? [];
      expect(
        options.filter((option) => !known.has(option) && option.startsWith('--')),
        topic,
      ).toEqual([]);
      for (const [, line = ''] of text.replaceAll(/\s+/g, ' ').matchAll(/'svc ([a-z0-9 -]+)/g)) {
        const [first = '', second = ''] = line.split(' ');
        const isKnown = first === 'help' || commandNames.has(`${first} ${second}`) || commandNames.has(first);
        expect(isKnown || groups.has(first), `${topic}: svc ${line}`).toBe(true);
      }
      for (const [, group = '', word = ''] of text.matchAll(/'(?:svc )?([a-z0-9]+)\s+([a-z][a-z-]*)/g)) {
        const inGroup = commands.map(({ words }) => words).filter((words) => words.startsWith(`${group} `));
        const isCommand = inGroup.some((words) => `${words} `.startsWith(`${group} ${word} `));
        expect(inGroup.length === 0 || isCommand, `${topic}: ${group} ${word}`).toBe(true);
      }
    }
  });

  it('help topics list every variable that sets an option, and others', async () => {
    const text = await help(['environment']);
    const variables = Object.values(GLOBAL_PARAMETERS).flatMap(({ environment = '' }: Parameter<unknown>) =>
      environment.split(', '),
    );
    for (const name of [...variables, ...Object.values(KEY_VARIABLES).flat(), 'SVC_STATE_DIR'])
      expect(text).toContain(name);
  });

  it('help topics have a page of exit codes that fits a screen, with every code and the five that scripts handle first', async () => {
    const { sections } = await topicPage('exit-codes');
    const codes = sections.flatMap(({ rows = [] }) => rows.map(([code]) => Number(code)));
    expect(codes.slice(0, 5)).toEqual([8, 9, 10, 11, 12]);
    expect(new Set(codes)).toEqual(new Set([0, ...Object.values(EXIT_CODES)]));
    expect((await help(['exit-codes'])).trimEnd().split('\n').length).toBeLessThan(24);
  });

  it('help topics name the limits, formats, columns and events that hold in the code', async () => {
    const facts: Readonly<Partial<Record<TopicName, readonly string[]>>> = {
      limits: [
        `${DEFAULT_PAGE_SIZE} by default, at most ${MAX_PAGE_SIZE}`,
        `${MAX_TENANT_NAME_LENGTH} characters`,
        `${formatBytes(MAX_REQUEST_FILE_BYTES)} or ${formatNumber(MAX_REQUEST_FILE_ROWS)} rows`,
        `valid for ${formatDuration(UPLOAD_LIFE_MS)}`,
        ...KNOWN_RATES.map(({ count, windowMs }) => `${count} requests in ${formatDuration(windowMs)}`),
        `${formatDuration(DEFAULT_MAX_WAIT_MS)} by default`,
        `${MAX_ATTEMPTS} for requests`,
        `${formatDuration(API_LIMITS.connect)} to connect, ${formatDuration(API_LIMITS.headers)} for`,
        `files ${formatDuration(FILE_LIMITS.idle)} without`,
        `${formatDuration(MAX_WAIT_MS)}, unless`,
        formatBytes(RECEIVER_LIMITS.body),
      ],
      output: [OUTPUT_FORMATS.join(', '), TIME_STYLES.join('|')],
      files: [REQUEST_COLUMNS.join(', '), RESULT_COLUMNS.join(', '), CONFIG_FILE_NAME, ENTITY_TYPES_FILE_NAME],
      events: [TRIGGER_TYPES.join(', ')],
      security: Object.values(KEY_VARIABLES).flat(),
    };
    for (const [topic, texts] of Object.entries(facts)) {
      const text = (await help([topic])).replaceAll(/\s+/g, ' ');
      for (const fact of texts) expect(text).toContain(fact);
    }
  });
});
