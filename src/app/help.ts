import type { PathsHost } from '../config/paths.ts';
import type { Command, Entry, Example, Group } from './command.ts';
import { type Page, pageText, type Row } from './help-page.ts';
import { GLOBAL_PARAMETERS, type Parameter, type Parameters } from './parameter.ts';
import type { About, HelpRequest } from './run.ts';
import { topicPage, TOPICS } from './topics.ts';
import { meaningOf } from './topics/exit-codes.ts';

/** Help of the whole tool. */
export function rootPage(tree: readonly Entry[]): Page {
  return {
    title: 'svc: the card vault from the command line',
    sections: [
      { title: 'Examples', examples: ROOT_EXAMPLES },
      { title: 'Usage', rows: [['svc <command> [options]', '']] },
      { title: 'Commands', rows: listed(tree) },
      { title: 'Options', rows: optionRows(GLOBAL_PARAMETERS) },
      { title: 'Topics', rows: Object.entries(TOPICS).map(([name, about]) => [`svc help ${name}`, about]) },
      {
        title: 'More',
        rows: [
          ['svc help <command>', 'examples and options of one command'],
          ['svc --version', 'the version'],
        ],
      },
    ],
  };
}

/** Help of a group, with the options of its default command. */
async function groupPage(group: Group): Promise<Page> {
  const shown = group.commands.filter(({ hidden }) => !hidden);
  const commands = await Promise.all(shown.map((each) => each.load()));
  const main = commands.find((command) => command.name === group.defaultCommand);
  const examples = commands.flatMap((command) => command.examples.slice(0, command === main ? 3 : 1));
  return {
    title: sentence(group.summary),
    sections: [
      { title: 'Examples', examples },
      {
        title: 'Commands',
        rows: commands.map((command) => [
          usage(command, `svc ${group.name} ${command.name}`),
          command.summary,
        ]),
      },
      {
        title: `Options of '${group.name} ${main?.name ?? ''}', which runs when no command is named`,
        rows: main ? optionRows(main.parameters) : [],
      },
      { title: 'Global options', text: GLOBAL_LINE },
      { title: 'More', rows: [[`svc help ${group.name} <command>`, 'all about one of these commands']] },
    ],
  };
}

/** Help of one command; `words` are those that name it, without `svc`. */
export function commandPage(command: Command, words: string): Page {
  const positional = Object.values(command.parameters).filter(({ kind }) => kind === 'argument');
  return {
    title: sentence(command.summary),
    text: command.description,
    sections: [
      { title: 'Examples', examples: command.examples },
      { title: 'Usage', rows: [[`${usage(command, `svc ${words}`)} [options]`, '']] },
      { title: 'Arguments', rows: positional.map((argument) => [argument.syntax, described(argument)]) },
      { title: 'Options', rows: optionRows(command.parameters) },
      { title: 'Global options', text: GLOBAL_LINE },
      { title: 'Permissions of the key', words: command.permissions },
      {
        title: 'Exit codes beside the ordinary ones of svc help exit-codes',
        rows: (command.exitCodes ?? []).map((code) => [String(code), meaningOf(code)]),
      },
    ],
  };
}

/** What `-h` shows of a page: how the command is written, one example, and its options or commands. */
function shortPage({ title, sections }: Page, words: string): Page {
  const kept = sections.filter((section) => /^(Usage|Arguments|Commands|Options)/.test(section.title));
  const examples = sections.flatMap((section) => section.examples ?? []).slice(0, 1);
  const more = `svc ${words === '' ? '' : `${words} `}--help`;
  return {
    title,
    sections: [{ title: 'Example', examples }, ...kept, { title: 'More', rows: [[more, 'all of the help']] }],
  };
}

function listed(entries: readonly Entry[]): Row[] {
  return entries.filter(({ hidden }) => !hidden).map(({ name, summary }) => [name, summary]);
}

// Options as rows of a page.
function optionRows(parameters: Parameters): Row[] {
  const options = Object.values(parameters).filter(({ kind }) => kind !== 'argument');
  return options.map((parameter) => [parameter.syntax, described(parameter)]);
}

const GLOBAL_LINE = '-o, --fields, --jq, --profile, --sandbox, --timeout and more: see svc --help';

const ROOT_EXAMPLES: readonly Example[] = [
  ['svc --sandbox logs --entity-type card', 'try it: no account, no network'],
  ['svc login', 'store your keys'],
  ['svc logs --entity-type card', 'the last logs of an entity type'],
  ['svc au submit tokens.csv --wait', 'refresh card tokens: check, upload, wait, summarise'],
];

function usage(command: Command, words: string): string {
  const positional = Object.values(command.parameters).filter(({ kind }) => kind === 'argument');
  return [words, ...positional.map((parameter) => parameter.syntax)].join(' ');
}

function described({ description, choices, environment }: Parameter<unknown>): string {
  const values = choices ? ` (${choices.join(', ')})` : '';
  return `${description}${values}${environment === undefined ? '' : ` [${environment}]`}`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const ANY_WIDTH = 80;

/** Help as text, in the columns of the terminal where there is one. */
export async function helpText(
  { about, short }: Omit<HelpRequest, 'kind'>,
  host: PathsHost,
  columns: number | undefined,
): Promise<string> {
  const page = await pageAbout(about, host);
  const words = about.kind === 'command' ? about.words : about.kind === 'group' ? about.group.name : '';
  return pageText(short && about.kind !== 'topic' ? shortPage(page, words) : page, columns || ANY_WIDTH);
}

async function pageAbout(about: About, host: PathsHost): Promise<Page> {
  switch (about.kind) {
    case 'tool':
      return rootPage(about.tree);
    case 'group':
      return groupPage(about.group);
    case 'command':
      return commandPage(about.command, about.words);
    case 'topic':
      return topicPage(about.topic, host);
  }
}
