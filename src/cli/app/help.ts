// Builds the help pages of svc, groups, commands and topics.

import { type System, withProgramName } from '../../base/system.ts';
import { type Command, commandsBehind, type Entry, type Group, type OwnExitCode, type Program } from './command.ts';
import { GLOBAL_PARAMETERS, type Globals } from './global-parameters.ts';
import type { Parameter, Parameters } from './parameter.ts';
import type { About, HelpRequest } from './invocation.ts';
import { pageText } from './page-text.ts';
import { type Page, type Row, topicList, type TopicName, topicPage } from './topics.ts';

/** Returns help as text, as wide as the terminal if there is one. */
export async function helpText(
  { about, full }: Omit<HelpRequest, 'kind'>,
  { stdout, program }: HelpHost,
): Promise<string> {
  return pageText(withTypedName(await pageAbout(about, full), program), stdout.columns || 80);
}

type HelpHost = { readonly stdout: Pick<System['stdout'], 'columns'> } & Pick<System, 'program'>;

/** Replaces `svc` in each text of a page by the program name that was typed. */
function withTypedName(page: Page, program: System['program']): Page {
  if (program === undefined) return page;
  const replaced = (_: string, text: unknown): unknown =>
    typeof text === 'string' ? withProgramName(text, { program }) : text;
  return JSON.parse(JSON.stringify(page, replaced)) as Page;
}

async function pageAbout(about: About, full: boolean): Promise<Page> {
  switch (about.kind) {
    case 'tool':
      return full ? rootPage(about.program) : firstPage(about.program);
    case 'group':
      return groupPage(about.group, about.words, full);
    case 'command':
      return full ? commandPage(about.command, about.words) : shortCommandPage(about.command, about.words);
    case 'topic':
      return topicHelp(about.topic);
  }
}

/** Returns the page of a topic. The page of `output` also lists the options of every command. */
export async function topicHelp(topic: TopicName): Promise<Page> {
  const page = await topicPage(topic);
  if (topic !== 'output') return page;
  return {
    ...page,
    sections: [...page.sections, { title: 'Options of every command', rows: optionRows(GLOBAL_PARAMETERS) }],
  };
}

const TITLE = 'svc: the card vault from the command line';

/** Returns the page for `svc --help`, which fits on a small screen. */
function firstPage({ tree, examples }: Pick<Program, 'tree' | 'examples'>): Page {
  const shown = tree.filter(({ hidden, rare }) => !hidden && rare !== true);
  const groups = shown.flatMap(({ name, commands }): Row[] => (commands ? [[name, shownWords(commands)]] : []));
  const others = shown.filter(({ commands }) => commands === undefined);
  return {
    title: TITLE,
    sections: [
      { title: 'Examples', examples },
      { title: 'Commands', rows: [...groups, ['also', shownWords(others)]] },
      { title: 'More', line: 'svc <command> --help, svc help' },
    ],
  };
}

function shownWords(entries: readonly Entry[]): string {
  const shown = entries.filter(({ hidden }) => !hidden);
  return shown.map(({ name }) => name).join(', ');
}

/** Returns the page for `svc help`, with all commands and topics. */
export function rootPage({ tree, examples }: Pick<Program, 'tree' | 'examples'>): Page {
  const listed = tree.filter(({ hidden }) => !hidden);
  return {
    title: TITLE,
    sections: [
      { title: 'Examples', examples },
      { title: 'Usage', line: 'svc <command> [options]' },
      { title: 'Commands', rows: listed.map(({ name, summary }) => [name, summary]) },
      { title: 'Options', rows: optionRows(frequentParameters()) },
      { title: 'Topics', rows: topicList().map(([name, about]) => [`svc help ${name}`, about]) },
      {
        title: 'More',
        rows: [
          ['svc help <command>', 'examples and options of one command'],
          ['svc help output', 'all options that every command takes'],
          ['svc --version', 'the version'],
        ],
      },
    ],
  };
}

/** The global options on the page of `svc help`; `svc help output` lists all. */
const FREQUENT: readonly (keyof Globals)[] = [
  'profile',
  'sandbox',
  'output',
  'fields',
  'jq',
  'timeout',
  'quiet',
  'yes',
];

function frequentParameters(): Parameters {
  return Object.fromEntries(FREQUENT.map((name) => [name, GLOBAL_PARAMETERS[name]]));
}

/** Returns the page of a group: for `--help` its commands; for `svc help` (`full`) also the options of its default command. */
async function groupPage(group: Group, words: string, full: boolean): Promise<Page> {
  const shown = group.commands.filter(({ hidden }) => !hidden);
  const commands = (await Promise.all(shown.map((each) => commandsBehind(each)))).flat();
  const main = commands.find((each) => each.words === group.defaultCommand)?.command;
  const examples = commands.flatMap(({ command }) => command.examples.slice(0, command === main ? 2 : 1));
  const title = capitalized(group.summary);
  if (!full)
    return {
      title,
      sections: [
        { title: 'Examples', examples: examples.slice(0, 2) },
        { title: 'Commands', rows: commands.map(({ command }): Row => [command.name, shortSummary(command)]) },
        { title: 'More', line: `svc ${words} <command> --help` },
      ],
    };
  const defaultTitle = `Options of '${words} ${main?.name ?? ''}', which runs when no command is named`;
  return {
    title,
    sections: [
      { title: 'Examples', examples: examples.slice(0, GROUP_EXAMPLES) },
      { title: 'Usage', line: `svc ${words} <command> [options]` },
      { title: 'Commands', rows: commands.map((each): Row => [usage(each.command, each.words), each.command.summary]) },
      { title: defaultTitle, rows: main ? optionRows(main.parameters) : [] },
      { title: 'Global options', line: GLOBAL_LINE },
      { title: 'More', line: `svc help ${words} <command>` },
    ],
  };
}

const GROUP_EXAMPLES = 4;

/** Returns the summary up to the first colon or semicolon. The rest only adds detail. */
function shortSummary({ summary }: Pick<Command, 'summary'>): string {
  return summary.split(/[:;]/, 1)[0] ?? summary;
}

/** Returns the help page of one command. `words` name the command, without `svc`. */
export function commandPage(command: Command, words: string): Page {
  const { summary, description, examples, parameters, permissions, exitCodes = [] } = command;
  const positional = Object.values(parameters).filter(({ kind }) => kind === 'argument');
  const special = exitCodes.filter((code) => typeof code !== 'number');
  return {
    title: capitalized(summary),
    text: description,
    sections: [
      { title: 'Examples', examples },
      { title: 'Usage', line: `${usage(command, `svc ${words}`)} [options]` },
      { title: 'Arguments', rows: positional.map((argument) => [argument.syntax, described(argument)]) },
      { title: 'Options', rows: optionRows(parameters) },
      { title: 'Exit codes', rows: special.map(([code, meaning]): Row => [String(code), meaning]) },
      { title: 'Exit codes', line: special.length === 0 ? usualCodes(exitCodes) : undefined },
      { title: 'Permissions of the key', line: permissions?.join(', ') },
      { title: 'Global options', line: GLOBAL_LINE },
    ],
  };
}

/** Lists exit codes that mean the same for every command; undefined without such codes. */
function usualCodes(codes: readonly (number | OwnExitCode)[]): string | undefined {
  return codes.length === 0 ? undefined : `${codes.join(', ')} (svc help exit-codes)`;
}

const GLOBAL_LINE = '-o, --fields, --jq, --profile, --sandbox …: svc help output';

/** Returns the page for `--help` of a command: examples, and the options that a new user needs. */
function shortCommandPage(command: Command, words: string): Page {
  const { summary, examples, parameters } = command;
  const options = optionRows(Object.fromEntries(Object.entries(parameters).filter(([, { rare }]) => rare !== true)));
  // Descriptions end with * if svc applies the option itself, not the service.
  const isMarked = options.some(([, meaning]) => meaning.includes('*'));
  return {
    title: capitalized(summary),
    sections: [
      { title: 'Examples', examples: examples.slice(0, 3) },
      { title: 'Usage', line: `${usage(command, `svc ${words}`)} [options]` },
      { title: 'Options', rows: options },
      { title: '*', line: isMarked ? 'svc filters these itself, in what it reads' : undefined },
      { title: 'More', line: `svc help ${words}` },
    ],
  };
}

function optionRows(parameters: Parameters): Row[] {
  const options = Object.values(parameters).filter(({ kind, hidden }) => kind !== 'argument' && hidden !== true);
  return options.map((parameter) => [parameter.syntax, described(parameter)]);
}

function usage(command: Command, words: string): string {
  const positional = Object.values(command.parameters).filter(({ kind }) => kind === 'argument');
  return [words, ...positional.map((parameter) => parameter.syntax)].join(' ');
}

function described({ kind, description, choices, environment }: Parameter<unknown>): string {
  const values = choices ? ` (${choices.join(', ')})` : '';
  const times = kind === 'repeated' ? ' (repeatable)' : '';
  return `${description}${values}${times}${environment === undefined ? '' : ` [${environment}]`}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
