import { Command as Parser, CommanderError } from 'commander';
import { type Command, type Entry, type Group, isGroup } from '../cli/command.ts';
import { GLOBAL_PARAMETERS, type Globals } from '../cli/globals.ts';
import { SvcError } from '../errors.ts';
import { addParameters, readInput } from './declare.ts';
import { commandHelp, groupHelp, rootHelp } from './help.ts';
import { parseError } from './parse-error.ts';
import { TOPICS } from './topics.ts';
import { TREE } from './tree.ts';

/** What a command line asks for. */
export type Invocation =
  | { readonly kind: 'help'; readonly text: string }
  | {
      readonly kind: 'run';
      readonly command: Command;
      /** The words that name the command, such as `logs list`. */
      readonly words: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly globals: Globals;
    };

/** Where the parser stands, for messages about a mistake. */
export interface Place {
  /** Words so far, from `svc` on. */
  words: string;
  parser: Parser;
}

/**
 * Reads a command line. Nothing is run and nothing but the named group is loaded.
 * @throws SvcError `usage`, which never repeats a typed value
 */
export async function parse(argv: readonly string[]): Promise<Invocation> {
  const topic = argv[0] === 'help' && argv.length === 2 ? TOPICS[argv[1] ?? ''] : undefined;
  if (topic) return { kind: 'help', text: topic() };
  const root = createParser('svc');
  const place: Place = { words: 'svc', parser: root };
  let invocation: Invocation | undefined;
  const select = (command: Command, words: string, parser: Parser): void => {
    const globals = readInput(root, GLOBAL_PARAMETERS) as Globals;
    invocation = { kind: 'run', command, words, input: readInput(parser, command.parameters), globals };
  };
  addParameters(root, GLOBAL_PARAMETERS);
  root.helpInformation = () => rootHelp(TREE);
  for (const entry of TREE) root.command(entry.name).description(entry.summary);
  root.hook('preSubcommand', (_, parser) => populate(parser, entryOf(parser.name()), place, select));
  try {
    await root.parseAsync(helpWordsLast(argv), { from: 'user' });
  } catch (error) {
    if (isBare(error, place, root)) return greeting(root);
    const help = error instanceof CommanderError ? helpOf(error, place) : undefined;
    if (help === undefined) throw parseError(error, place);
    invocation = { kind: 'help', text: help };
  }
  return invocation ?? { kind: 'help', text: rootHelp(TREE) };
}

// Not asked for help: no command was named, options at most.
function isBare(error: unknown, place: Place, root: Parser): boolean {
  return error instanceof CommanderError && error.code === 'commander.help' && place.parser === root;
}

async function greeting(root: Parser): Promise<Invocation> {
  const { greet } = await import('../commands/greet.ts');
  const globals = readInput(root, GLOBAL_PARAMETERS) as Globals;
  return { kind: 'run', command: greet, words: '', input: {}, globals };
}

type Select = (command: Command, words: string, parser: Parser) => void;

function createParser(name: string): Parser {
  const quiet = { writeOut: (): void => undefined, writeErr: (): void => undefined };
  return new Parser(name).exitOverride().configureOutput(quiet).helpCommand(false);
}

async function populate(parser: Parser, entry: Entry, place: Place, select: Select): Promise<void> {
  const node = await entry.load();
  place.words = `svc ${entry.name}`;
  place.parser = parser;
  if (!isGroup(node)) return addCommand(parser, node, entry.name, select);
  parser.helpInformation = () => groupHelp(node);
  for (const command of node.commands) {
    const isDefault = command.name === node.defaultCommand;
    addCommand(parser.command(command.name, { isDefault }), command, `${entry.name} ${command.name}`, select);
  }
  parser.hook('preSubcommand', (_, child) => enter(child, node, place));
}

function enter(child: Parser, group: Group, place: Place): void {
  place.words = `svc ${group.name} ${child.name()}`;
  place.parser = child;
}

function addCommand(parser: Parser, command: Command, words: string, select: Select): void {
  addParameters(parser, command.parameters);
  parser.helpInformation = () => commandHelp(command, words);
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

function helpOf(error: CommanderError, place: Place): string | undefined {
  const asked = error.code === 'commander.helpDisplayed' || error.code === 'commander.help';
  return asked ? place.parser.helpInformation() : undefined;
}
