import { Command as Parser, CommanderError } from 'commander';
import { SvcError } from '../errors.ts';
import { writePlain } from '../output/output.ts';
import type { System } from '../system.ts';
import { type Command, type Entry, type Group, isGroup, type Program } from './command.ts';
import { addParameters, noHelpOn, parseError, readInput } from './declare.ts';
import { GLOBAL_PARAMETERS, type Globals } from './parameter.ts';
import { isTopic, type TopicName, TOPICS } from './topics.ts';

/** Reads the command line and does what it asks for. Help needs nothing but the stream that it is written to. */
export async function run(argv: readonly string[], system: System, program: Program): Promise<number> {
  const parsed = await parse(argv, program).catch((error: unknown) => ({ kind: 'mistake', error }) as const);
  if (parsed.kind === 'help') {
    const { helpText } = await import('./help.ts');
    return writePlain(system, await helpText(parsed, system, system.stdout.columns));
  }
  const { execute } = await import('./execute.ts');
  return execute(parsed, argv, system);
}

/** What a command line asks for. */
export type Invocation =
  | HelpRequest
  | {
      readonly kind: 'run';
      readonly command: Command;
      /** The words that name the command, such as `logs list`. */
      readonly words: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly globals: Globals;
    };

/** Which help is asked for. */
export interface HelpRequest {
  readonly kind: 'help';
  readonly about: About;
  /** `-h`: what fits a screen; `--help` and `svc help` show all. */
  readonly short: boolean;
}

/** What help is asked about. */
export type About =
  | { readonly kind: 'tool'; readonly tree: readonly Entry[] }
  | { readonly kind: 'group'; readonly group: Group }
  | { readonly kind: 'command'; readonly command: Command; readonly words: string }
  | { readonly kind: 'topic'; readonly topic: TopicName };

/** Where the parser stands, for messages about a mistake and for help. */
export interface ParsePosition {
  /** Words so far, from `svc` on. */
  words: string;
  parser: Parser;
  about: About;
}

/**
 * Reads a command line. Nothing is run and nothing but the named group and command is loaded.
 * @throws SvcError `usage`, which never repeats a typed value
 */
export async function parse(argv: readonly string[], program: Program): Promise<Invocation> {
  const { tree } = program;
  const topic = argv[0] === 'help' && argv.length === 2 ? (argv[1] ?? '') : '';
  if (isTopic(topic)) return helpOn({ kind: 'topic', topic }, argv);
  const names = tree.map(({ name }) => name);
  if (/^\w/.test(topic) && !names.includes(topic)) throw noHelpOn(topic, [...names, ...Object.keys(TOPICS)]);
  const root = createParser('svc');
  const place: ParsePosition = { words: 'svc', parser: root, about: { kind: 'tool', tree } };
  let invocation: Invocation | undefined;
  let helpWords: readonly string[] | undefined;
  const select = (command: Command, words: string, parser: Parser): void => {
    const globals = readInput(root, GLOBAL_PARAMETERS) as Globals;
    invocation = { kind: 'run', command, words, input: readInput(parser, command.parameters), globals };
  };
  addParameters(root, GLOBAL_PARAMETERS);
  for (const entry of tree) root.command(entry.name).description(entry.summary);
  const help = root.command('help', { hidden: true }).argument('[words...]');
  help.action((words: readonly string[]) => {
    helpWords = words;
  });
  root.hook('preSubcommand', (_, parser) =>
    parser === help ? undefined : populate(parser, named(tree, parser.name()), place, select),
  );
  try {
    await root.parseAsync(helpWordsLast(argv), { from: 'user' });
  } catch (error) {
    if (isBare(error, place, root)) return greeting(root, program);
    if (!isHelpAsked(error)) throw parseError(error, place);
    return helpOn(place.about, argv);
  }
  // Behind options, as in `svc --sandbox help logs`.
  if (helpWords !== undefined) return parse(['help', ...helpWords], program);
  return invocation ?? helpOn(place.about, argv);
}

// Not asked for help: no command was named, options at most.
function isBare(error: unknown, place: ParsePosition, root: Parser): boolean {
  return error instanceof CommanderError && error.code === 'commander.help' && place.parser === root;
}

async function greeting(root: Parser, { welcome }: Program): Promise<Invocation> {
  const globals = readInput(root, GLOBAL_PARAMETERS) as Globals;
  return { kind: 'run', command: await welcome.load(), words: '', input: {}, globals };
}

type Select = (command: Command, words: string, parser: Parser) => void;

function createParser(name: string): Parser {
  const quiet = { writeOut: (): void => undefined, writeErr: (): void => undefined };
  return new Parser(name).exitOverride().configureOutput(quiet).helpCommand(false);
}

async function populate(parser: Parser, entry: Entry, place: ParsePosition, select: Select): Promise<void> {
  const node = await entry.load();
  place.words = `svc ${entry.name}`;
  place.parser = parser;
  if (!isGroup(node)) {
    place.about = { kind: 'command', command: node, words: entry.name };
    return addCommand(parser, node, entry.name, select);
  }
  place.about = { kind: 'group', group: node };
  for (const { name, hidden } of node.commands)
    parser.command(name, { isDefault: name === node.defaultCommand, hidden });
  parser.hook('preSubcommand', (_, child) => enter(child, node, place, select));
}

async function enter(child: Parser, group: Group, place: ParsePosition, select: Select): Promise<void> {
  const command = await named(group.commands, child.name()).load();
  const words = `${group.name} ${command.name}`;
  place.words = `svc ${words}`;
  place.parser = child;
  place.about = { kind: 'command', command, words };
  addCommand(child, command, words, select);
}

function addCommand(parser: Parser, command: Command, words: string, select: Select): void {
  addParameters(parser, command.parameters);
  parser.action(() => select(command, words, parser));
}

function named<Node>(entries: readonly Entry<Node>[], name: string): Entry<Node> {
  const entry = entries.find((candidate) => candidate.name === name);
  if (!entry) throw new SvcError('bug', 'the parser met a command that is not in the tree');
  return entry;
}

// `svc help logs tail` reads as `svc logs tail --help`.
function helpWordsLast(argv: readonly string[]): string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
}

function helpOn(about: About, argv: readonly string[]): HelpRequest {
  return { kind: 'help', about, short: argv.includes('-h') && !argv.includes('--help') };
}

function isHelpAsked(error: unknown): boolean {
  if (!(error instanceof CommanderError)) return false;
  return error.code === 'commander.helpDisplayed' || error.code === 'commander.help';
}
