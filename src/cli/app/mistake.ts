import { type Command as Parser, CommanderError } from 'commander';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { nearest, questionOf, typedOption, typedWord } from '../../base/security/typed-word.ts';
import { ownMember } from '../../schema/own-member.ts';
import { type Entry, isGroup } from './command.ts';
import { GLOBAL_PARAMETERS } from './global-parameters.ts';
import { type Habits, KEY_OPTIONS, VERSION_WORDS } from './habits.ts';
import { optionWords, type Parameter, type Parameters, takesValue } from './parameter.ts';
import { TOPICS } from './topics.ts';

/** Where the parser stopped. */
export interface Place {
  readonly tree: readonly Entry[];
  /** The words typed so far, starting with `svc`. */
  readonly words: string;
  readonly parser: Parser;
  /** The parameters of the command, if the parser has reached one. */
  readonly parameters: Parameters;
  readonly argv: readonly string[];
  readonly habits: Required<Habits>;
}

/** What was wrong, and the command to run instead. */
interface Mistake {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly next?: readonly string[] | undefined;
  readonly alternatives?: readonly (readonly string[])[] | undefined;
}

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

/**
 * Returns the words of the typed command, without the default command of a group if it was not typed. An error in a
 * global option comes before the parser reaches the command.
 */
async function typedPath({ words, tree, argv }: Place): Promise<string[]> {
  const path = words.split(' ').slice(1);
  if (path.length > 0) return argv.includes(path.at(-1) ?? '') ? path : path.slice(0, -1);
  let entries = tree;
  for (const word of argv) {
    const entry = entries.find(({ name }) => name === word);
    if (entry === undefined) continue;
    path.push(entry.name);
    const node = await entry.load();
    entries = isGroup(node) ? node.commands : [];
  }
  return path;
}

async function describe(error: CommanderError, place: Place): Promise<Mistake> {
  const { parser } = place;
  switch (error.code) {
    case 'commander.unknownOption':
      return unknownOption(error, place);
    case 'commander.unknownCommand':
      return unknownCommand(parser.args, parser, place);
    case 'commander.excessArguments':
      return unexpectedArgument(place);
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
function unexpectedArgument(place: Place): Promise<Mistake> | Mistake {
  const { parser, words, argv, habits } = place;
  const expected = parser.registeredArguments.length;
  const group = parser.parent;
  if (expected === 0 && group?.parent && !argv.includes(parser.name()))
    return unknownCommand(parser.args, group, { ...place, words: words.replace(/ \S+$/, '') });
  const message = `unexpected argument ${typedWord(parser.args[expected] ?? '')} for '${words}'`;
  const habit = habits.extraWords.find(([command]) => `svc ${command}` === words);
  return habit === undefined ? { message } : { message, hint: habit[2], next: habit[1].split(' ') };
}

async function unknownCommand(
  typed: readonly string[],
  group: Parser,
  { words, tree, habits }: Place,
): Promise<Mistake> {
  const [word = ''] = typed;
  const names = group.commands.map((command) => command.name());
  const message = `unknown command ${typedWord(word, names)}${words === 'svc' ? '' : ` for '${words}'`}`;
  const path = words.split(' ').slice(1);
  const habit = habitOf(habits, [...path, ...typed], path.length + 1);
  if (habit !== undefined) {
    const [, command, why] = habit;
    return { message, hint: why, next: command === '' ? undefined : command.split(' ') };
  }
  const elsewhere = await commandsNamed(word, tree);
  if (elsewhere.length > 0) return { message, next: elsewhere[0], alternatives: elsewhere.slice(1) };
  const meant = nearest(word, names);
  if (meant !== undefined) return { message, hint: questionOf(meant), next: [...path, meant] };
  const similar = await commandsNamed(word, tree, path.length === 0);
  if (similar.length > 0) return { message, next: similar[0], alternatives: similar.slice(1) };
  return Object.hasOwn(TOPICS, word) ? { message, next: ['help', word] } : { message };
}

/** Finds the habit that matches most words, at least `least` of them. */
function habitOf({ commands }: Required<Habits>, typed: readonly string[], least: number) {
  for (let count = Math.min(typed.length, 3); count >= least; count -= 1) {
    const words = typed.slice(0, count).join(' ');
    const habit = commands.find(([known]) => known === words);
    if (habit !== undefined) return habit;
  }
  return undefined;
}

/** Returns the commands of all groups that have this name, or one like it. */
async function commandsNamed(word: string, tree: readonly Entry[], alike = false): Promise<string[][]> {
  const found: string[][] = [];
  for (const entry of tree) {
    const node = entry.hidden ? undefined : await entry.load();
    if (node === undefined || !isGroup(node)) continue;
    const names = node.commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
    const name = alike ? nearest(word, names) : names.find((one) => one === word);
    if (name !== undefined) found.push([entry.name, name]);
  }
  return found;
}

async function unknownOption({ message }: CommanderError, place: Place): Promise<Mistake> {
  const { parser, words, habits } = place;
  const typed = /unknown option '([^'=]*)/.exec(message)?.[1] ?? '';
  const path = await typedPath(place);
  const parameters: Parameters = { ...place.parameters, ...GLOBAL_PARAMETERS };
  const own = path.length === 0 ? ['--version', '--help'] : ['--help'];
  const known = [...own, ...parser.options.flatMap(({ short, long }) => [short ?? '', long ?? ''])];
  const ofOtherTools = habits.options.map(([one]) => one);
  const wrong = `unknown option ${typedOption(typed, [...known, ...KEY_OPTIONS, ...ofOtherTools])}`;
  const what = { message: `${wrong} for '${words}'` };
  if (KEY_OPTIONS.includes(typed)) {
    const next = path[0] === 'login' ? ['login', '--management-key-stdin'] : ['login'];
    return { ...what, hint: 'No option takes a key, because process lists show options.', next };
  }
  const habit = habits.options.find(([option]) => option === typed);
  if (habit !== undefined) {
    const [, options, why] = habit;
    if (path.length === 0 && typed === '-v') return { ...what, next: VERSION_WORDS };
    const meant = options.find((option) => parameterOf(option, parameters) !== undefined);
    if (meant !== undefined) {
      const hint = why ?? questionOf(meant.replace('--output ', '-o '));
      return { ...what, hint, next: [...path, ...withValue(meant, parameters)] };
    }
    if (why !== undefined) return { ...what, hint: why };
  }
  // The parser's suggestion is a name from the command tree. The rest of its message repeats typed text.
  const meant = /\(Did you mean (?:one of )?(-[^,?)]+)/.exec(message)?.[1] ?? nearest(typed, known);
  if (meant === undefined) return what;
  return { ...what, hint: questionOf(meant), next: [...path, ...withValue(meant, parameters)] };
}

function parameterOf(option: string, parameters: Parameters): Parameter<unknown> | undefined {
  const [name = ''] = option.split(' ');
  return Object.values(parameters).find((parameter) => optionWords(parameter).includes(name));
}

/** Returns an option as words, with a placeholder for a value that it needs. */
function withValue(option: string, parameters: Parameters): string[] {
  const words = option.split(' ');
  const parameter = parameterOf(option, parameters);
  if (words.length > 1 || parameter === undefined || !takesValue(parameter)) return words;
  return [...words, placeholder(parameter.syntax)];
}

/** Returns `<time>` for `--since <time>`, and one word for `<job|run>`, which a shell would read otherwise. */
function placeholder(syntax: string): string {
  return `<${nameOf(syntax)}>`;
}

function nameOf(syntax: string): string {
  return /[<[][^\w]*(\w+)[^>\]]*[>\]]$/.exec(syntax)?.[1] ?? 'value';
}

const INVALID_CHOICE =
  /^error: (?:option '(?:-\w, )?(\S+).*?' argument|command-argument value) '(.*)' is invalid(?: for argument '(.*)')?\. Allowed choices are (.*)\.$/s;

async function invalidChoice({ message }: CommanderError, place: Place): Promise<Mistake> {
  const [, option, typed = '', argument = '', list = ''] = INVALID_CHOICE.exec(message) ?? [];
  const choices = list.split(', ');
  const what = { message: `${option ?? `<${argument}>`} must be one of ${list}, not ${typedWord(typed, choices)}` };
  const path = await typedPath(place);
  const before = option === undefined ? path : [...path, option];
  const other = option === '--output' ? await optionNamed(typed, path, place) : undefined;
  if (other !== undefined) return { ...what, hint: questionOf(`--${typed}`), next: [...path, ...other] };
  const meant =
    ownMember(ownMember(place.habits.choices, option ?? '') ?? {}, typed.toLowerCase()) ?? nearest(typed, choices);
  if (meant === undefined) return what;
  return { ...what, hint: questionOf(meant), next: [...before, meant] };
}

/** Finds an option with the name of a format, such as `--html` for `-o html`. */
async function optionNamed(typed: string, path: readonly string[], { tree }: Place): Promise<string[] | undefined> {
  let entries = tree;
  let own: Parameters = {};
  for (const word of path) {
    const node = await entries.find(({ name }) => name === word)?.load();
    if (node === undefined) break;
    if (isGroup(node)) entries = node.commands;
    else own = node.parameters;
  }
  const parameters: Parameters = { ...own, ...GLOBAL_PARAMETERS };
  return parameterOf(`--${typed}`, parameters) && withValue(`--${typed}`, parameters);
}

async function missingArgument({ message }: CommanderError, place: Place): Promise<Mistake> {
  const name = /argument '(.*)'$/.exec(message)?.[1] ?? '';
  const positional = Object.values(place.parameters).filter(({ kind }) => kind === 'argument');
  const parameter = positional.find(({ syntax }) => syntax.replace(/\.\.\.>$/, '>') === `<${name}>`);
  if (parameter === undefined) return { message: message.replace(/^error: /, '') };
  const required = positional.filter(({ syntax }) => syntax.startsWith('<')).map(({ syntax }) => placeholder(syntax));
  const path = await typedPath(place);
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
