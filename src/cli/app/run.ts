// Parses the command line with commander, and runs the command or prints help.

import { Argument, Command as Parser, CommanderError, Option } from 'commander';
import { isSvcError, SvcError } from '../../base/errors.ts';
import { isShowable, nearest, questionOf, typedWord } from '../../base/security/typed-word.ts';
import type { System } from '../../base/system.ts';
import { VERSION } from '../../base/version.ts';
import { writePlain } from '../output/output.ts';
import { type Command, type Entry, isGroup, type Program } from './command.ts';
import { GLOBAL_PARAMETERS, type Globals } from './global-parameters.ts';
import type { About, HelpRequest, Invocation, RunRequest } from './invocation.ts';
import {
  COMMAND_TO_RUN,
  optionWords,
  type Parameter,
  type Parameters,
  PUT_AFTER_DASHES,
  takesValue,
} from './parameter.ts';
import { type TopicName, TOPICS } from './topics.ts';

/** Parses the command line, then runs the command or prints help. */
export async function run(argv: readonly string[], system: System, program: Program): Promise<number> {
  const parsed = await parse(argv, program).catch((error: unknown) => ({ kind: 'mistake', error }) as const);
  if (parsed.kind === 'version') return writePlain(system, `${VERSION}\n`);
  if (parsed.kind === 'help') {
    const { helpText } = await import('./help.ts');
    return writePlain(system, await helpText(parsed, system));
  }
  const { execute } = await import('./execute.ts');
  return execute(parsed, argv, system);
}

/** How far the parser has come. */
interface Position {
  readonly root: Parser;
  readonly globals: InputReader;
  /** The words typed so far, starting with `svc`. */
  words: string;
  parser: Parser;
  about: About;
  run: RunRequest | undefined;
}

/**
 * Parses a command line and loads only the named command.
 * @throws SvcError `usage`, which never repeats a typed value
 */
export async function parse(argv: readonly string[], program: Program): Promise<Invocation> {
  const { tree } = program;
  if (argv[0] === 'help') {
    const firstOption = argv.findIndex((word) => word.startsWith('-'));
    const [topic = '', ...more] = argv.slice(1, firstOption === -1 ? undefined : firstOption);
    if (isTopic(topic) && more.length === 0) return helpOn({ kind: 'topic', topic }, argv);
    await requireHelp([topic, ...more].filter(Boolean), program);
  }
  const root = createParser();
  const globals = declare(root, GLOBAL_PARAMETERS);
  const about = { kind: 'tool', program } as const;
  const position: Position = { root, globals, words: 'svc', parser: root, about, run: undefined };
  let helpWords: readonly string[] | undefined;
  const help = root.command('help', { hidden: true }).argument('[words...]');
  help.action((words: readonly string[]) => {
    helpWords = words;
  });
  for (const { name } of tree) root.command(name);
  root.hook('preSubcommand', (_, child) => (child === help ? undefined : enter(child, tree, [], position)));
  try {
    // `svc help logs tail` is parsed as `svc logs tail --help`.
    await root.parseAsync(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv, { from: 'user' });
  } catch (error) {
    if (hasCode(error, 'commander.version')) return { kind: 'version' };
    if (hasCode(error, 'commander.help') && position.parser === root)
      return runOf(await program.welcome.load(), '', {}, globals);
    if (!hasCode(error, 'commander.help', 'commander.helpDisplayed')) {
      const [{ explainMistake }, otherTools] = await Promise.all([import('./mistake.ts'), program.otherTools()]);
      const parameters = position.about.kind === 'command' ? position.about.command.parameters : {};
      throw await explainMistake(error, { ...position, tree, parameters, argv, otherTools });
    }
    const moved = position.parser === root ? helpLast(argv, tree) : undefined;
    return moved === undefined ? helpOn(position.about, argv) : parse(moved, program);
  }
  // `svc --sandbox help logs`: the word `help` after options.
  if (helpWords !== undefined) return parse(['help', ...helpWords], program);
  if (position.run !== undefined) requireWholeCommand(position.run, argv);
  return position.run ?? helpOn(position.about, argv);
}

/** Refuses a command to run of which svc has taken an option, or the word `--`, as its own. @throws SvcError `usage` */
function requireWholeCommand({ command, words, input }: RunRequest, argv: readonly string[]): void {
  const [name] = Object.entries(command.parameters).find(([, { syntax }]) => syntax === COMMAND_TO_RUN) ?? [];
  const typed = name === undefined ? [] : (input[name] as readonly string[]);
  const last = argv.slice(argv.length - typed.length);
  if (typed.every((word, at) => word === last[at])) return;
  throw new SvcError('usage', `an option of the command to run was taken for one of 'svc ${words}'`, {
    hint: PUT_AFTER_DASHES,
    next: [...words.split(' '), '--', COMMAND_TO_RUN],
  });
}

/** Moves `--help` behind the command that follows it: `svc --help au submit` is the help of `au submit`. */
function helpLast(argv: readonly string[], tree: readonly Entry[]): readonly string[] | undefined {
  const at = argv.findIndex((word) => word === '--help' || word === '-h');
  const [help, word, ...rest] = argv.slice(at);
  if (help === undefined || word === undefined || !tree.some((entry) => entry.name === word)) return undefined;
  return [...argv.slice(0, at), word, ...rest, help];
}

/** Loads the group or command of a typed word, and declares its subcommands or parameters to the parser. */
async function enter(
  parser: Parser,
  entries: readonly Entry[],
  before: readonly string[],
  position: Position,
): Promise<void> {
  const entry = entries.find(({ name }) => name === parser.name());
  if (!entry) throw new SvcError('bug', 'the parser met a command that is not in the tree');
  const node = await entry.load();
  const names = [...before, entry.name];
  const words = names.join(' ');
  position.parser = parser;
  position.words = `svc ${words}`;
  if (isGroup(node)) {
    position.about = { kind: 'group', group: node, words };
    for (const { name, hidden } of node.commands)
      parser.command(name, { isDefault: name === node.defaultCommand, hidden });
    parser.hook('preSubcommand', (_, child) => enter(child, node.commands, names, position));
    return;
  }
  position.about = { kind: 'command', command: node, words };
  const input = declare(parser, node.parameters);
  parser.action(() => {
    position.run = runOf(node, words, input(), position.globals);
  });
}

function runOf(
  command: Command,
  words: string,
  input: Readonly<Record<string, unknown>>,
  globals: InputReader,
): RunRequest {
  // The parser fills in exactly the declared parameters.
  return { kind: 'run', command, words, input, globals: globals() as Globals };
}

function createParser(): Parser {
  // The parser writes nothing here. Without these functions it would open Node's streams to measure the terminal.
  const widths = { getOutHelpWidth: () => 80, getErrHelpWidth: () => 80 };
  const colors = { getOutHasColors: () => false, getErrHasColors: () => false };
  const quiet = { writeOut: (): void => undefined, writeErr: (): void => undefined, ...widths, ...colors };
  return new Parser('svc')
    .exitOverride()
    .version(VERSION, '-V, --version')
    .configureOutput(quiet)
    .configureHelp({ formatHelp: () => '' })
    .helpCommand(false);
}

function isTopic(name: string): name is TopicName {
  return Object.hasOwn(TOPICS, name);
}

function helpOn(about: About, argv: readonly string[]): HelpRequest {
  return { kind: 'help', about, full: argv[0] === 'help' };
}

function hasCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof CommanderError && codes.includes(error.code);
}

/** Returns the typed values by parameter name. */
type InputReader = () => Record<string, unknown>;

/** Declares parameters to the parser. Returns the function that reads their values after parsing. */
function declare(parser: Parser, parameters: Parameters): InputReader {
  const typedOptions = new Map<string, () => boolean>();
  const readers = Object.entries(parameters).map(([name, parameter]): [string, () => unknown] => {
    if (parameter.kind === 'argument') {
      const at = parser.registeredArguments.length;
      parser.addArgument(toArgument(parameter));
      return [name, () => parser.processedArgs[at]];
    }
    const option = toOption(parameter);
    parser.addOption(option);
    const typed = (): unknown => parser.opts()[option.attributeName()];
    // `--color` and `--no-color` set the same value: true or false.
    typedOptions.set(
      name,
      () => parser.getOptionValueSource(option.attributeName()) === 'cli' && (typed() === false) === option.negate,
    );
    if (option.negate) return [name, () => typed() === false];
    // `--no-x` sets the option `--x` to false, which means its default here.
    return [name, () => (takesValue(parameter) && typed() === false ? parameter.default : typed())];
  });
  return () => {
    refuseConflicts(parameters, (name) => typedOptions.get(name)?.() === true);
    return Object.fromEntries(readers.map(([name, read]) => [name, read()]));
  };
}

/** Refuses an option that was typed with one that it conflicts with. @throws SvcError `usage` */
function refuseConflicts(parameters: Parameters, isTyped: (name: string) => boolean): void {
  for (const [name, { syntax, conflicts = [] }] of Object.entries(parameters)) {
    const other = isTyped(name) ? conflicts.find(isTyped) : undefined;
    if (other !== undefined)
      throw new SvcError('usage', `option '${syntax}' cannot be used with option '${parameters[other]?.syntax}'`, {
        hint: 'Give one of them.',
      });
  }
}

function toArgument(parameter: Parameter<unknown>): Argument {
  const argument = new Argument(parameter.syntax);
  if (parameter.choices) return argument.choices(parameter.choices);
  const read = withName(parameter, parameter.syntax);
  return argument.argParser(argument.variadic ? appending(read) : (text: string) => read(text));
}

function toOption(parameter: Parameter<unknown>): Option {
  const { kind, syntax, choices } = parameter;
  const option = new Option(syntax);
  if (!option.negate) option.default(parameter.default);
  if (kind === 'flag') return option;
  if (choices) return withoutEqualsSign(option.choices(choices));
  const read = withName(parameter, optionWords(parameter).at(-1) ?? '');
  return withoutEqualsSign(option.argParser(kind === 'repeated' ? appending(read) : (text: string) => read(text)));
}

/** Accepts `-o=csv`, which the parser would read as the value `=csv`. */
function withoutEqualsSign(option: Option): Option {
  const { parseArg } = option;
  if (option.short === undefined || parseArg === undefined) return option;
  return option.argParser((text: string, before: unknown) => parseArg(text.replace(/^=/, ''), before));
}

function appending(read: (text: string) => unknown): (text: string, before: unknown) => unknown[] {
  return (text, before) => [...(Array.isArray(before) ? before : []), read(text)];
}

/** Wraps the parser of a value, so that its error begins with the name of the option or argument. */
function withName(parameter: Parameter<unknown>, name: string): (text: string) => unknown {
  return (text) => {
    try {
      return parameter.parse(text);
    } catch (error) {
      if (!isSvcError(error, 'usage', 'refused_input')) throw error;
      // A value that may be a secret is left out.
      const typed = /^must (?!not )/.test(error.message) && isShowable(text) ? `, not "${text}"` : '';
      throw error.with({ message: `${name} ${error.message}${typed}` });
    }
  };
}

/** Checks that each word after `svc help` names a group or command. @throws SvcError `usage` for the first other word */
async function requireHelp(typed: readonly string[], { tree }: Program): Promise<void> {
  let entries = tree;
  const topics = Object.keys(TOPICS);
  for (const [at, word] of typed.entries()) {
    const entry = entries.find((one) => one.name === word);
    const names = [...entries.map(({ name }) => name), ...(at === 0 ? topics : [])];
    if (entry === undefined && at === 0 && isTopic(word)) throw afterTopicError(word, typed[1] ?? '');
    if (entry === undefined) throw noHelpError(typed.slice(0, at), word, names);
    const node = await entry.load();
    if (!isGroup(node)) return;
    entries = node.commands;
  }
}

function afterTopicError(topic: TopicName, typed: string): SvcError {
  return new SvcError('usage', `unexpected word ${typedWord(typed)} after the help topic ${topic}`, {
    next: ['help', topic],
  });
}

function noHelpError(before: readonly string[], typed: string, names: readonly string[]): SvcError {
  const meant = nearest(typed, names);
  return new SvcError('usage', `no help topic ${typedWord(typed, names)}`, {
    hint: meant === undefined ? "To look up a word of the service, use 'svc explain'." : questionOf(meant),
    next: ['help', ...before, ...(meant === undefined ? [] : [meant])],
  });
}
