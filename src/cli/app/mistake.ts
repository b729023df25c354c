import { CommanderError } from 'commander';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { nearest, questionOf, typedWord } from '../../base/security/typed-word.ts';
import { ownMember } from '../../schema/own-member.ts';
import type { Entry } from './command.ts';
import { isGroup } from './command.ts';
import { GLOBAL_PARAMETERS } from './global-parameters.ts';
import { SAME_WORDS } from './habits.ts';
import { optionWords, type Parameters } from './parameter.ts';
import {
  argumentsOf,
  commandAt,
  isFile,
  type Mistake,
  nameOf,
  parameterOf,
  type Place,
  placeholder,
  typedPath,
  withValue,
} from './place.ts';
import { TOPICS } from './topics.ts';
import { asOption, type CommandHabit, commandHabit, extraWord, unexpectedArgument } from './unexpected-argument.ts';
import { unknownOption } from './unknown-option.ts';

/**
 * Rewrites the parser's errors. They repeat typed text only if it cannot be a secret, because a key pasted into the
 * wrong place must not be shown (R05). Suggestions contain only names that svc knows.
 */
export async function explainMistake(error: unknown, place: Place): Promise<unknown> {
  if (isSvcError(error, 'usage')) return error.with({ next: error.next ?? (await helpFor(place)) });
  if (!(error instanceof CommanderError)) return error;
  const { message, ...rest } = await describe(error, place);
  return new SvcError('usage', message, { ...rest, next: rest.next ?? (await helpFor(place)) });
}

async function helpFor(place: Place): Promise<readonly string[]> {
  return [...(await typedPath(place)), '--help'];
}

async function describe(error: CommanderError, place: Place): Promise<Mistake> {
  const { parser } = place;
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownOption(error, place);
    case 'commander.unknownCommand':
      return unknownCommand(parser.args, parser.commands, place);
    case 'commander.excessArguments':
      return excessArgument(place);
    case 'commander.invalidArgument':
      return invalidChoice(error, place);
    case 'commander.missingArgument':
      return missingArgument(error, place);
    case 'commander.optionMissingArgument':
      return missingValue(error, place);
    case 'commander.conflictingOption':
      return { message: error.message.replace(/^error: /, ''), hint: 'Give one of them.' };
    default:
      return { message: 'the command line could not be understood' };
  }
}

// The default command of a group takes no arguments, so an argument there is a mistyped command.
function excessArgument(place: Place): Promise<Mistake> {
  const { parser, words, argv } = place;
  const group = parser.parent;
  if (parser.registeredArguments.length === 0 && group?.parent && !argv.includes(parser.name()))
    return unknownCommand(parser.args, group.commands, { ...place, words: words.replace(/ \S+$/, '') });
  return unexpectedArgument(place);
}

async function unknownCommand(
  typed: readonly string[],
  commands: readonly { name(): string }[],
  place: Place,
): Promise<Mistake> {
  const { words, tree, habits } = place;
  const [word = ''] = typed;
  const names = commands.map((command) => command.name());
  const path = words.split(' ').slice(1);
  const message = (shown: string): string => `unknown command ${shown}${path.length === 0 ? '' : ` for '${words}'`}`;
  const what = { message: message(typedWord(word, names)) };
  const habit = commandHabit(habits, [...path, ...typed], path.length + 1);
  if (habit !== undefined) return { ...what, ...insteadOf(habit) };
  const main = await commandAt(path, tree);
  const option = main && (await asOption(word, [], path, place, main.parameters));
  if (option !== undefined) return { message: option.shown ? message(`"${word}"`) : what.message, ...option.instead };
  const same = path.length === 0 ? undefined : await bySameWord(word, path, names, place);
  if (same !== undefined) return { ...what, ...same };
  const elsewhere = await commandsNamed(word, tree);
  if (elsewhere.length > 0) return { ...what, next: elsewhere[0], alternatives: elsewhere.slice(1) };
  const meant = nearest(word, names);
  if (meant !== undefined) return { ...what, hint: questionOf(meant), next: [...path, meant] };
  const similar = await commandsNamed(word, tree, path.length === 0);
  if (similar.length > 0) return { ...what, next: similar[0], alternatives: similar.slice(1) };
  return Object.hasOwn(TOPICS, word) ? { ...what, next: ['help', word] } : what;
}

function insteadOf([, command, why]: CommandHabit): Partial<Mistake> {
  return { hint: why, next: command === '' ? undefined : command.split(' ') };
}

/** Finds the command of a group, or the habit, for another word that means the same. */
async function bySameWord(
  word: string,
  path: readonly string[],
  names: readonly string[],
  { habits, tree }: Place,
): Promise<Partial<Mistake> | undefined> {
  const same = SAME_WORDS.filter((words) => words.includes(word)).flat();
  const habit = same.map((one) => commandHabit(habits, [...path, one], path.length + 1)).find(Boolean);
  if (habit !== undefined) return insteadOf(habit);
  const name = names.find((one) => same.includes(one));
  return name === undefined ? undefined : { next: [...path, name, ...(await requiredWords([...path, name], tree))] };
}

/** Returns a placeholder for each argument that a command needs. */
async function requiredWords(path: readonly string[], tree: readonly Entry[]): Promise<string[]> {
  const command = await commandAt(path, tree);
  const needed = argumentsOf(command?.parameters ?? {}).filter(({ syntax }) => syntax.startsWith('<'));
  return needed.map(({ syntax }) => placeholder(syntax));
}

/** Returns the commands of all groups that have this name, or one like it. */
async function commandsNamed(word: string, tree: readonly Entry[], alike = false): Promise<string[][]> {
  const found: string[][] = [];
  for (const entry of tree) {
    const node = entry.hidden ? undefined : await entry.load();
    if (node === undefined || !isGroup(node)) continue;
    const names = node.commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
    const name = alike ? nearest(word, names, 1) : names.find((one) => one === word);
    if (name !== undefined) found.push([entry.name, name]);
  }
  return found;
}

const INVALID_CHOICE =
  /^error: (?:option '(?:-\w, )?(\S+).*?' argument|command-argument value) '(.*)' is invalid(?: for argument '(.*)')?\. Allowed choices are (.*)\.$/s;

async function invalidChoice({ message }: CommanderError, place: Place): Promise<Mistake> {
  const [, option, typed = '', argument = '', list = ''] = INVALID_CHOICE.exec(message) ?? [];
  const choices = list.split(', ');
  const what = { message: `${option ?? `<${argument}>`} must be one of ${list}, not ${typedWord(typed, choices)}` };
  const path = await typedPath(place);
  const before = option === undefined ? path : [...path, option];
  const [key = ''] = typed.toLowerCase().split('=');
  const habits = Object.entries(ownMember(place.habits.choices, option ?? '') ?? {});
  const habit = habits.find(([, words]) => words.split(' ').includes(key))?.[0];
  const other = option === '--output' ? await optionNamed(habit ?? `--${key}`, path, place) : undefined;
  if (other !== undefined) return { ...what, hint: questionOf(other[0] ?? ''), next: [...path, ...other] };
  const meant = habit ?? nearest(typed, choices);
  if (meant === undefined) return what;
  return { ...what, hint: questionOf(meant), next: [...before, meant] };
}

/** Finds an option with the name of a format, such as `--html` for `-o html`. */
async function optionNamed(option: string, path: readonly string[], { tree }: Place): Promise<string[] | undefined> {
  const command = await commandAt(path, tree);
  const parameters: Parameters = { ...command?.parameters, ...GLOBAL_PARAMETERS };
  return parameterOf(option, parameters) && withValue(option, parameters);
}

async function missingArgument({ message }: CommanderError, place: Place): Promise<Mistake> {
  const name = /argument '(.*)'$/.exec(message)?.[1] ?? '';
  const positional = argumentsOf(place.parameters);
  const parameter = positional.find(({ syntax }) => syntax.replace(/\.\.\.>$/, '>') === `<${name}>`);
  if (parameter === undefined) return { message: message.replace(/^error: /, '') };
  const required = positional.filter(({ syntax }) => syntax.startsWith('<')).map(({ syntax }) => placeholder(syntax));
  const path = await typedPath(place);
  const [typed = ''] = place.parser.args;
  if (isFile(place, typed) && positional[0]?.file === undefined) {
    const elsewhere = extraWord(place, typed);
    if (elsewhere.next !== undefined)
      return {
        message: `"${typed}" is a file, and ${positional[0]?.syntax ?? ''} is ${positional[0]?.description ?? ''}`,
        ...elsewhere,
      };
  }
  return {
    message: `${parameter.syntax} is missing: ${parameter.description}`,
    next: [...path, ...required],
    alternatives: [[...path, '--help']],
  };
}

async function missingValue({ message }: CommanderError, place: Place): Promise<Mistake> {
  const syntax = /option '(.*)' argument missing$/.exec(message)?.[1] ?? '';
  const parameters: Parameters = { ...place.parameters, ...GLOBAL_PARAMETERS };
  const parameter = Object.values(parameters).find((one) => one.syntax === syntax);
  if (parameter === undefined) return { message: message.replace(/^error: /, '') };
  const option = optionWords(parameter).at(-1) ?? '';
  const name = nameOf(syntax);
  const values = parameter.choices === undefined ? parameter.description : parameter.choices.join(', ');
  return {
    message: `${option} needs ${/^[aeio]/.test(name) ? 'an' : 'a'} ${name}: ${values}`,
    next: [...(await typedPath(place)), option, placeholder(syntax)],
  };
}
