import { type Command, type Entry, isGroup } from '../../cli/app/command.ts';
import { optionWords, type Parameter, type Parameters, type Suggestion, takesValue } from '../../cli/app/parameter.ts';

export interface Completable {
  readonly tree: readonly Entry[];
  readonly globals: Parameters;
  /** The topics that can follow `svc help` besides commands, with descriptions. */
  readonly topics: readonly Suggestion[];
}

/** The position after the typed words, which decides what can follow. */
export interface ParseState {
  readonly next: readonly Entry[];
  /** The command being typed, if it is known yet. */
  readonly command: Command | undefined;
  /** Every option that can stand here, including options already given. */
  readonly options: readonly Parameter<unknown>[];
  readonly given: ReadonlySet<Parameter<unknown>>;
  readonly arguments: readonly string[];
  /** The option that takes the next word as its value. */
  readonly pending: Parameter<unknown> | undefined;
  /** Whether a lone `--` came before, after which all words are arguments. */
  readonly argumentsOnly: boolean;
  /** Whether the words follow `svc help`. */
  readonly help: boolean;
}

const HELP: Parameter<unknown> = option('-h, --help', 'show help');
const VERSION: Parameter<unknown> = option('-V, --version', 'show the version');

/** Follows words into the command tree. Loads only the commands and groups that the words name. */
export async function walk({ tree, globals }: Completable, words: readonly string[]): Promise<ParseState> {
  const help = words[0] === 'help';
  const common = [...Object.values(globals), HELP];
  let at: ParseState = {
    next: tree,
    command: undefined,
    options: [...common, VERSION],
    given: new Set(),
    arguments: [],
    pending: undefined,
    argumentsOnly: false,
    help,
  };
  for (const word of help ? words.slice(1) : words) at = await step(at, word, common);
  return at;
}

export function optionNamed(at: ParseState, word: string): Parameter<unknown> | undefined {
  return at.options.find((candidate) => optionWords(candidate).includes(word));
}

export function argumentsOf(command: Command | undefined): Parameter<unknown>[] {
  return Object.values(command?.parameters ?? {}).filter(({ kind }) => kind === 'argument');
}

async function step(at: ParseState, word: string, common: readonly Parameter<unknown>[]): Promise<ParseState> {
  if (at.pending) return { ...at, pending: undefined };
  if (!at.argumentsOnly && word === '--') return { ...at, argumentsOnly: true, next: [] };
  if (!at.argumentsOnly && /^-./.test(word)) return afterOption(at, word, common);
  const chosen = at.next.find((entry) => entry.name === word);
  if (!chosen) return { ...at, next: [], arguments: [...at.arguments, word] };
  return enter(at, chosen, common);
}

function afterOption(at: ParseState, word: string, common: readonly Parameter<unknown>[]): ParseState {
  const [name = ''] = word.split('=', 1);
  const found = optionNamed(at, name);
  if (!found) return at;
  return {
    ...at,
    // An option of a group's default command means that this command is being typed.
    next: common.includes(found) ? at.next : [],
    given: new Set([...at.given, found]),
    pending: takesValue(found) && !word.includes('=') ? found : undefined,
  };
}

async function enter(at: ParseState, chosen: Entry, common: readonly Parameter<unknown>[]): Promise<ParseState> {
  const node = await chosen.load();
  const main = isGroup(node) ? await node.commands.find(({ name }) => name === node.defaultCommand)?.load() : node;
  const command = main && !isGroup(main) ? main : undefined;
  const own = Object.values(command?.parameters ?? {}).filter(({ kind }) => kind !== 'argument');
  return { ...at, next: isGroup(node) ? node.commands : [], command, options: [...own, ...common] };
}

function option(syntax: string, description: string): Parameter<unknown> {
  return { kind: 'flag', syntax, description, parse: () => true };
}
