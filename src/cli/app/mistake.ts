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
  typedPath,
  withValue,
} from './place.ts';
import { mendedLine, separated, type TypedWord, typedWords } from './mended-line.ts';
import { TOPICS } from './topics.ts';
import {
  asOneTime,
  asOption,
  type CommandHabit,
  commandHabit,
  extraWord,
  unexpectedArgument,
} from './unexpected-argument.ts';
import { unknownOption } from './unknown-option.ts';

/**
 * Rewrites the parser's errors. They repeat typed text only if it cannot be a secret, because a key pasted into the
 * wrong place must not be shown (R05). Suggestions contain only names that svc knows.
 */
export async function explainMistake(error: unknown, typed: Place): Promise<unknown> {
  const place = { ...typed, argv: separated(typed.argv, typed.parameters) };
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
      return isWordOfGroup(place) ? excessArgument(place) : unknownOption(error, place);
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
async function excessArgument(place: Place): Promise<Mistake> {
  const { parser } = place;
  const group = isDefaultOf(parser.parent, place) ? parser.parent : null;
  const words = group === null ? place.words : place.words.replace(/ \S+$/, '');
  const oneTime = asOneTime({ ...place, words });
  if (oneTime !== undefined) return oneTime;
  return group === null ? unexpectedArgument(place) : unknownCommand(parser.args, group.commands, { ...place, words });
}

/** Tells whether a mistyped command was taken for an argument of the group's default command, which has no such option. */
function isWordOfGroup(place: Place): boolean {
  const [word] = place.parser.args;
  return word !== undefined && !word.startsWith('-') && isDefaultOf(place.parser.parent, place);
}

/** Tells whether the parser is at the default command of a group, which was not typed and takes no arguments. */
function isDefaultOf(group: Place['parser'] | null, { parser, argv }: Place): boolean {
  return parser.registeredArguments.length === 0 && Boolean(group?.parent) && !argv.includes(parser.name());
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
  const option = main && (await asOption(word, path, place, main.parameters));
  if (option !== undefined) return { message: option.shown ? message(`"${word}"`) : what.message, ...option.instead };
  const same = path.length === 0 ? undefined : await bySameWord(word, path, names, place);
  if (same !== undefined) return { ...what, ...same };
  const elsewhere = await commandsNamed(word, tree);
  if (elsewhere.length === 1) return { ...what, next: await withTypedRest(elsewhere[0] ?? [], path.length + 1, place) };
  if (elsewhere.length > 0) return { ...what, next: elsewhere[0], alternatives: elsewhere.slice(1) };
  const meant = nearest(word, names);
  if (meant !== undefined)
    return { ...what, hint: questionOf(meant), next: await withTypedRest([...path, meant], path.length + 1, place) };
  const similar = await commandsNamed(word, tree, path.length === 0);
  if (similar.length > 0) return { ...what, next: similar[0], alternatives: similar.slice(1) };
  return Object.hasOwn(TOPICS, word) ? { ...what, next: ['help', word] } : what;
}

function insteadOf([, command, why]: CommandHabit): Partial<Mistake> {
  return { hint: why, next: command === '' ? undefined : command.split(' ') };
}

/** Returns the typed line with another command in place of its first words. */
async function withTypedRest(path: readonly string[], typed: number, place: Place): Promise<string[]> {
  const { parameters = {} } = (await commandAt(path, place.tree)) ?? {};
  return mendedLine(place, { path, typed, parameters });
}

/** Finds the command of a group, or the habit, for another word that means the same. */
async function bySameWord(
  word: string,
  path: readonly string[],
  names: readonly string[],
  place: Place,
): Promise<Partial<Mistake> | undefined> {
  const same = SAME_WORDS.filter((words) => words.includes(word)).flat();
  const habit = same.map((one) => commandHabit(place.habits, [...path, one], path.length + 1)).find(Boolean);
  if (habit !== undefined) return insteadOf(habit);
  const name = names.find((one) => same.includes(one));
  return name === undefined ? undefined : { next: await withTypedRest([...path, name], path.length + 1, place) };
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
  const { parameters = {} } = (await commandAt(path, place.tree)) ?? {};
  const wrong = typedWords(place.argv, parameters).findLast((word) =>
    option === undefined ? word.text === typed : word.value === typed && isNamed(word, option),
  );
  const mended = (words: readonly string[]): string[] =>
    mendedLine(place, { path, parameters, instead: new Map(wrong && [[wrong.at, words]]) });
  const [key = ''] = typed.toLowerCase().split('=');
  const habits = Object.entries(ownMember(place.habits.choices, option ?? '') ?? {});
  const habit = habits.find(([, words]) => words.split(' ').includes(key))?.[0];
  const other = option === '--output' ? optionNamed(habit ?? `--${key}`, parameters) : undefined;
  if (other !== undefined) return { ...what, hint: questionOf(other[0] ?? ''), next: mended(other) };
  const meant = habit ?? nearest(typed, choices);
  if (meant === undefined) return what;
  return { ...what, hint: questionOf(meant), next: mended(option === undefined ? [meant] : [option, meant]) };
}

function isNamed({ parameter }: TypedWord, option: string): boolean {
  return parameter !== undefined && optionWords(parameter).includes(option);
}

/** Finds an option with the name of a format, such as `--html` for `-o html`. */
function optionNamed(option: string, parameters: Parameters): string[] | undefined {
  const all: Parameters = { ...parameters, ...GLOBAL_PARAMETERS };
  return parameterOf(option, all) && withValue(option, all);
}

async function missingArgument({ message }: CommanderError, place: Place): Promise<Mistake> {
  const name = /argument '(.*)'$/.exec(message)?.[1] ?? '';
  const positional = argumentsOf(place.parameters);
  const parameter = positional.find(({ syntax }) => syntax.replace(/\.\.\.>$/, '>') === `<${name}>`);
  if (parameter === undefined) return { message: message.replace(/^error: /, '') };
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
    next: mendedLine(place, { path, parameters: place.parameters }),
    alternatives: [[...path, '--help']],
  };
}

async function missingValue({ message }: CommanderError, place: Place): Promise<Mistake> {
  const syntax = /option '(.*)' argument missing$/.exec(message)?.[1] ?? '';
  const path = await typedPath(place);
  const { parameters = {} } = (await commandAt(path, place.tree)) ?? {};
  const parameter = Object.values({ ...parameters, ...GLOBAL_PARAMETERS }).find((one) => one.syntax === syntax);
  if (parameter === undefined) return { message: message.replace(/^error: /, '') };
  const option = optionWords(parameter).at(-1) ?? '';
  const name = nameOf(syntax);
  const values = parameter.choices === undefined ? parameter.description : parameter.choices.join(', ');
  return {
    message: `${option} needs ${/^[aeio]|^n$/.test(name) ? 'an' : 'a'} ${name}: ${values}`,
    next: mendedLine(place, { path, parameters }),
  };
}
