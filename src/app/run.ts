import { Command as Parser, CommanderError } from 'commander';
import { TREE } from '../commands/tree.ts';
import { SvcError } from '../errors.ts';
import { writePlain } from '../output/write-plain.ts';
import type { System } from '../system.ts';
import { type Command, type Entry, type Group, isGroup } from './command.ts';
import { addParameters, noHelpOn, parseError, readInput } from './declare.ts';
import { GLOBAL_PARAMETERS, type Globals } from './parameter.ts';
import { isTopic, type TopicName, TOPICS } from './topics.ts';

/** Reads the command line and does what it asks for. Help needs nothing but the stream that it is written to. */
export async function run(argv: readonly string[], system: System): Promise<number> {
  const parsed = await parse(argv).catch((error: unknown) => ({ kind: 'mistake', error }) as const);
  if (parsed.kind === 'help') {
    const { helpText } = await import('./help.ts');
    return writePlain(system, await helpText(parsed.about, system, system.stdout.columns));
  }
  const { execute } = await import('./execute.ts');
  return execute(parsed, argv, system);
}

/** What a command line asks for. */
export type Invocation =
  | { readonly kind: 'help'; readonly about: About }
  | {
      readonly kind: 'run';
      readonly command: Command;
      /** The words that name the command, such as `logs list`. */
      readonly words: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly globals: Globals;
    };

/** What help is asked about. */
export type About =
  | { readonly kind: 'tool' }
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
 * Reads a command line. Nothing is run and nothing but the named group is loaded.
 * @throws SvcError `usage`, which never repeats a typed value
 */
export async function parse(argv: readonly string[]): Promise<Invocation> {
  const topic = argv[0] === 'help' && argv.length === 2 ? (argv[1] ?? '') : '';
  if (isTopic(topic)) return { kind: 'help', about: { kind: 'topic', topic } };
  const names = TREE.map(({ name }) => name);
  if (/^\w/.test(topic) && !names.includes(topic)) throw noHelpOn(topic, [...names, ...Object.keys(TOPICS)]);
  const root = createParser('svc');
  const place: ParsePosition = { words: 'svc', parser: root, about: { kind: 'tool' } };
  let invocation: Invocation | undefined;
  let helpOn: readonly string[] | undefined;
  const select = (command: Command, words: string, parser: Parser): void => {
    const globals = readInput(root, GLOBAL_PARAMETERS) as Globals;
    invocation = { kind: 'run', command, words, input: readInput(parser, command.parameters), globals };
  };
  addParameters(root, GLOBAL_PARAMETERS);
  for (const entry of TREE) root.command(entry.name).description(entry.summary);
  const help = root.command('help', { hidden: true }).argument('[words...]');
  help.action((words: readonly string[]) => {
    helpOn = words;
  });
  root.hook('preSubcommand', (_, parser) =>
    parser === help ? undefined : populate(parser, entryOf(parser.name()), place, select),
  );
  try {
    await root.parseAsync(helpWordsLast(argv), { from: 'user' });
  } catch (error) {
    if (isBare(error, place, root)) return greeting(root);
    if (!isHelpAsked(error)) throw parseError(error, place);
    return { kind: 'help', about: place.about };
  }
  // Behind options, as in `svc --sandbox help logs`.
  if (helpOn !== undefined) return parse(['help', ...helpOn]);
  return invocation ?? { kind: 'help', about: place.about };
}

// Not asked for help: no command was named, options at most.
function isBare(error: unknown, place: ParsePosition, root: Parser): boolean {
  return error instanceof CommanderError && error.code === 'commander.help' && place.parser === root;
}

async function greeting(root: Parser): Promise<Invocation> {
  const { welcome } = await import('../commands/greet.ts');
  const globals = readInput(root, GLOBAL_PARAMETERS) as Globals;
  return { kind: 'run', command: welcome, words: '', input: {}, globals };
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
  for (const command of node.commands) {
    const isDefault = command.name === node.defaultCommand;
    addCommand(parser.command(command.name, { isDefault }), command, `${entry.name} ${command.name}`, select);
  }
  parser.hook('preSubcommand', (_, child) => enter(child, node, place));
}

function enter(child: Parser, group: Group, place: ParsePosition): void {
  const words = `${group.name} ${child.name()}`;
  const command = group.commands.find(({ name }) => name === child.name());
  place.words = `svc ${words}`;
  place.parser = child;
  if (command) place.about = { kind: 'command', command, words };
}

function addCommand(parser: Parser, command: Command, words: string, select: Select): void {
  addParameters(parser, command.parameters);
  parser.action(() => select(command, words, parser));
}

function entryOf(name: string): Entry {
  const entry = TREE.find((candidate) => candidate.name === name);
  if (!entry) throw new SvcError('bug', 'the parser met a command that is not in the tree');
  return entry;
}

// `svc help logs tail` reads as `svc logs tail --help`.
function helpWordsLast(argv: readonly string[]): string[] {
  return argv[0] === 'help' ? [...argv.slice(1), '--help'] : [...argv];
}

function isHelpAsked(error: unknown): boolean {
  if (!(error instanceof CommanderError)) return false;
  return error.code === 'commander.helpDisplayed' || error.code === 'commander.help';
}
