import { type Command, type Entry, type Example, exitCodesOf, type Group } from '../cli/command.ts';
import { GLOBAL_PARAMETERS } from '../cli/globals.ts';
import type { Parameter, Parameters } from '../cli/parameter.ts';
import { TOPICS } from './topics.ts';

/** Help of the whole tool. */
export function rootHelp(tree: readonly Entry[]): string {
  return sections([
    ['svc: the card vault from the command line', []],
    ['Examples', exampleLines(ROOT_EXAMPLES)],
    ['Usage', ['svc <command> [options]']],
    ['Commands', pairLines(tree.map((entry) => [entry.name, entry.summary]))],
    ['Options', optionLines(GLOBAL_PARAMETERS)],
    [
      'More',
      pairLines([
        ['svc <command> --help', 'examples and options of one command'],
        ['svc help <topic>', Object.keys(TOPICS).join(', ')],
        ['svc --version', 'the version'],
      ]),
    ],
  ]);
}

/** Help of a group, with the options of its default command. */
export function groupHelp(group: Group): string {
  const main = group.commands.find((command) => command.name === group.defaultCommand);
  const examples = group.commands.flatMap((command) => command.examples.slice(0, command === main ? 3 : 1));
  return sections([
    [sentence(group.summary), []],
    ['Examples', exampleLines(examples)],
    [
      'Commands',
      pairLines(
        group.commands.map((command) => [
          usage(command, `svc ${group.name} ${command.name}`),
          command.summary,
        ]),
      ),
    ],
    [
      `Options of '${group.name} ${main?.name ?? ''}', which runs when no command is named`,
      main ? optionLines(main.parameters) : [],
    ],
    ['Global options', [GLOBAL_LINE]],
  ]);
}

/** Help of one command. */
export function commandHelp(command: Command, words: string): string {
  const positional = Object.values(command.parameters).filter((parameter) => parameter.kind === 'argument');
  return sections([
    [sentence(command.summary), command.description === undefined ? [] : wrap(command.description)],
    ['Examples', exampleLines(command.examples)],
    ['Usage', [`${usage(command, `svc ${words}`)} [options]`]],
    ['Arguments', pairLines(positional.map((parameter) => [parameter.syntax, parameter.description]))],
    ['Options', optionLines(command.parameters)],
    ['Global options', [GLOBAL_LINE]],
    ['Permissions', command.permissions === undefined ? [] : [command.permissions.join(', ')]],
    ['Exit codes', [exitLine(command)]],
  ]);
}

const GLOBAL_LINE = '-o, --fields, --profile, --sandbox, --timeout and more: see svc --help';

const ROOT_EXAMPLES: readonly Example[] = [
  ['svc --sandbox logs --entity-type card', 'try it: no account, no network'],
  ['svc login', 'store your keys'],
  ['svc logs --entity-type card', 'the last logs of an entity type'],
  ['svc au submit tokens.csv --wait', 'refresh card tokens: check, upload, wait, summarise'],
];

function sections(parts: readonly (readonly [title: string, lines: readonly string[]])[]): string {
  return parts
    .filter(([, lines], index) => index === 0 || lines.length > 0)
    .map(([title, lines]) => [title, ...lines.map((line) => `  ${line}`.trimEnd())].join('\n'))
    .join('\n\n')
    .concat('\n');
}

function usage(command: Command, words: string): string {
  const positional = Object.values(command.parameters).filter((parameter) => parameter.kind === 'argument');
  return [words, ...positional.map((parameter) => parameter.syntax)].join(' ');
}

function exampleLines(examples: readonly Example[]): string[] {
  return pairLines(examples);
}

function optionLines(parameters: Parameters): string[] {
  const options = Object.values(parameters).filter((parameter) => parameter.kind !== 'argument');
  return pairLines(options.map((parameter) => [parameter.syntax, described(parameter)]));
}

function described(parameter: Parameter<unknown>): string {
  const choices = parameter.choices ? ` (${parameter.choices.join(', ')})` : '';
  const environment = parameter.environment === undefined ? '' : ` [${parameter.environment}]`;
  return parameter.description + choices + environment;
}

function pairLines(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(44, Math.max(0, ...pairs.map(([left]) => left.length)));
  return pairs.flatMap(([left, right]) => {
    const lines = wrap(right, 96 - width);
    const first =
      left.length > width
        ? [left, `${' '.repeat(width)}  ${lines[0] ?? ''}`]
        : [`${left.padEnd(width)}  ${lines[0] ?? ''}`];
    return [...first, ...lines.slice(1).map((line) => `${' '.repeat(width)}  ${line}`)];
  });
}

function wrap(text: string, width = 90): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines;
}

function exitLine(command: Command): string {
  return `${exitCodesOf(command).join(', ')} (svc help exit-codes)`;
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
