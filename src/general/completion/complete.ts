// Finds completions for a command line.

import { join } from 'node:path';
import { claimsSeen, cyclesSeen } from '../../au/open-claims.ts';
import { readRegularFileSync } from '../../base/files/read.ts';
import { type Command, type Entry, isGroup } from '../../cli/app/command.ts';
import {
  COMMAND_TO_RUN,
  optionWords,
  type Parameter,
  type Parameters,
  type Suggest,
  type Suggestion,
  takesValue,
} from '../../cli/app/parameter.ts';
import { CONFIG_FILE_NAME, directoryOf, type PathsHost } from '../../cli/config/paths.ts';
import { profileNameProblem, SANDBOX_PROFILE } from '../../cli/config/values.ts';
import { cleanText, isUnsafe } from '../../cli/output/text.ts';
import { isObject } from '../../schema/json-value.ts';

export interface Candidates {
  /** The kind of candidates. The shell itself completes `files` and `directories`. */
  readonly kind: 'words' | 'files' | 'directories';
  /** The unchanged start of the word, before the candidates: `--output=`, or `id,` in a list. */
  readonly prefix: string;
  readonly candidates: readonly Suggestion[];
  /** Whether the word may continue after a candidate, so that no space follows. */
  readonly open: boolean;
}

export const NOTHING: Candidates = { kind: 'words', prefix: '', candidates: [], open: false };

/** Finds the candidates for `current`, the start of a word, after the words typed before. */
export async function candidatesFor(
  program: Completable,
  words: readonly string[],
  current: string,
  system: Sources['system'],
): Promise<Candidates> {
  const at = await walk(program, words);
  const sources = { system, fields: at.command?.fields ?? [], typed: at.arguments };
  const found = await candidatesAt(at, program, current, sources);
  return { ...found, candidates: safe(found.candidates) };
}

async function candidatesAt(at: ParseState, program: Completable, current: string, sources: Sources) {
  if (at.help) return chosen([...commandsAt(at), ...(at.next === program.tree ? program.topics : [])], current);
  if (at.pending) return valuesOf(at.pending, current, '', sources);
  if (!at.argumentsOnly) {
    const [name = ''] = current.split('=', 1);
    if (/^--[^=]+=/.test(current)) return joinedValue(at, name, current, sources);
    if (current.startsWith('-') && current !== '') return chosen(options(at, current), current);
  }
  const help: Suggestion[] = at.next === program.tree ? [['help', 'help on a command or a topic']] : [];
  const named = chosen([...commandsAt(at), ...help], current);
  if (named.candidates.length > 0) return named;
  const declared = argumentsOf(at.command);
  const last = declared.at(-1);
  const argument = declared[at.arguments.length] ?? (last?.syntax.includes('...') ? last : undefined);
  // `svc sandbox exec --` is followed by another command line, usually of svc.
  if (argument?.syntax === COMMAND_TO_RUN && at.arguments[0] === 'svc')
    return candidatesFor(program, at.arguments.slice(1), current, sources.system);
  if (argument?.syntax === COMMAND_TO_RUN && /^sv?c?$/.test(current)) return chosen([['svc', '']], current);
  if (argument) return valuesOf(argument, current, '', sources);
  // If nothing else can follow, an empty word lists the options.
  return current === '' && !at.argumentsOnly ? chosen(options(at, '--'), '') : NOTHING;
}

export function commandsAt(at: ParseState): Suggestion[] {
  // Hidden commands are not offered, but their options are completed.
  return at.next.filter(({ hidden }) => !hidden).map(({ name, summary }) => [name, summary]);
}

/** Returns the options that can follow: without options already typed, unless they are repeatable. */
function options(at: ParseState, current: string): Suggestion[] {
  return at.options
    .filter(({ hidden }) => hidden !== true)
    .filter((option) => option.kind === 'repeated' || !at.given.has(option))
    .flatMap((option) =>
      optionWords(option)
        .filter((word) => word.startsWith('--') || word === current)
        .map((word): Suggestion => [word, option.description.replace(/ \*$/, '')]),
    );
}

async function joinedValue(at: ParseState, name: string, current: string, sources: Sources): Promise<Candidates> {
  const option = optionNamed(at, name);
  if (!option || !takesValue(option)) return NOTHING;
  return valuesOf(option, current.slice(name.length + 1), `${name}=`, sources);
}

async function valuesOf(parameter: Parameter<unknown>, typed: string, prefix: string, sources: Sources) {
  const { suggest, choices, syntax } = parameter;
  if (suggest === undefined && choices)
    return chosen(
      choices.map((value) => [value, '']),
      typed,
      prefix,
    );
  if (suggest === undefined) return valuesBySyntax(syntax, typed, prefix, sources);
  const all = await suggestionsOf(suggest, sources);
  const isList = syntax.includes('<a,') || (typeof suggest === 'object' && 'joined' in suggest);
  if (isList) return listed(all, typed, prefix);
  const hasNames = typeof suggest === 'function' && all.some(([word]) => word.endsWith('='));
  return hasNames ? assignments(all, typed, prefix) : chosen(all, typed, prefix);
}

// The name of a value in the syntax shows its kind: `<file|->`, `<file...>`, `[dir]`, `<cycle|job>`.
async function valuesBySyntax(syntax: string, typed: string, prefix: string, sources: Sources): Promise<Candidates> {
  const called = /[<[]([^>\]]+)/.exec(syntax)?.[1]?.replace('...', '').split('|') ?? [];
  const isOneOf = (...names: string[]): boolean => called.some((name) => names.includes(name));
  if (isOneOf('file', 'export', 'json', 'results', 'request', 'journal', 'command'))
    return { ...NOTHING, prefix, kind: 'files' };
  if (isOneOf('dir', 'location')) return { ...NOTHING, prefix, kind: 'directories' };
  if (isOneOf('time', 'date')) return chosen(DAYS, typed, prefix);
  const ofCycles = isOneOf('cycle') ? await suggestionsOf('cycle', sources) : [];
  const ofJobs = isOneOf('job') ? await suggestionsOf('job', sources) : [];
  return chosen([...ofCycles, ...ofJobs], typed, prefix);
}

/** The words for a time, apart from durations and dates. */
const DAYS: readonly Suggestion[] = [
  ['today', 'since 00:00 UTC'],
  ['yesterday', 'since 00:00 UTC of the day before'],
];

/**
 * Offers words for the part after the last comma or semicolon, or after an @ in this part. Names between the last semicolon
 * and this part are not offered again, whatever their values.
 */
function listed(all: readonly Suggestion[], typed: string, prefix: string): Candidates {
  const [before = ''] = /^.*[,;] */s.exec(typed) ?? [];
  const at = typed.indexOf('@', before.length);
  const kept = at === -1 ? before : typed.slice(0, at);
  const taken = new Set(
    before
      .slice(before.lastIndexOf(';') + 1)
      .split(',')
      .map(nameIn),
  );
  const free = all.filter(([word]) => word.startsWith('@') === (at !== -1) && !taken.has(nameIn(word)));
  return { ...chosen(free, typed.slice(kept.length), prefix + kept), open: true };
}

function nameIn(part: string): string {
  return part.trim().split('=', 1)[0] ?? '';
}

/** Offers names with their `=`, after which no space follows, and values once a name is typed. */
function assignments(all: readonly Suggestion[], typed: string, prefix: string): Candidates {
  const isNamed = typed.includes('=');
  const offered = all.filter(([word]) => word.endsWith('=') !== isNamed);
  return { ...chosen(offered, typed, prefix), open: !isNamed };
}

function chosen(all: readonly Suggestion[], typed: string, prefix = ''): Candidates {
  return { ...NOTHING, prefix, candidates: all.filter(([value]) => value.startsWith(typed)) };
}

// Drops values with control characters, which could move the cursor or end a line.
function safe(candidates: readonly Suggestion[]): Suggestion[] {
  return candidates
    .filter(([value]) => value !== '' && !isUnsafe(value))
    .map(([value, description]) => [value, cleanText(description)]);
}

/** The sources of values. They never use the network and never write. */
interface Sources {
  readonly system: PathsHost;
  /** The fields of the typed command, for `--fields`. */
  readonly fields: readonly string[];
  /** The arguments before the word at the cursor. */
  readonly typed: readonly string[];
}

/** Returns the values to offer. Returns none if reading fails, since TAB must not print errors. */
async function suggestionsOf(suggest: Suggest, sources: Sources): Promise<readonly Suggestion[]> {
  if (typeof suggest === 'function') return suggest(sources.typed);
  if (typeof suggest === 'object' && 'joined' in suggest) return suggest.joined();
  if (typeof suggest === 'object') return (await import('../every-meaning.ts')).wordsOf(suggest.wordsOf);
  switch (suggest) {
    case 'profile':
      return [...storedProfiles(sources.system), [SANDBOX_PROFILE, 'the embedded sandbox']];
    case 'stored profile':
      return storedProfiles(sources.system);
    case 'entity type':
      return [...(await import('../../cli/config/cache.ts')).knownEntityTypes(sources.system)];
    case 'actor':
      return (await import('../../cli/config/cache.ts')).knownActors(sources.system);
    case 'field':
      return fieldNames(sources.fields).map((field) => [field, '']);
    case 'job':
      return jobs(sources);
    case 'cycle':
      return cycles(sources);
  }
}

/** Returns the cycle of this month, then the cycles that this machine has read in ledgers, newest first. */
function cycles({ system }: Sources): Suggestion[] {
  const month = new Date().toISOString().slice(0, 7);
  const seen = readLedgers(system, cyclesSeen);
  const names = [...new Set(seen)]
    .toSorted()
    .toReversed()
    .filter((name) => name !== month);
  return [[month, 'this month'], ...names.map((name): Suggestion => [name, 'a cycle in the ledger'])];
}

/** The number of newest cycles of a ledger whose jobs are suggested. */
const NEWEST_CYCLES = 6;

/** Returns the jobs of the newest cycles that this machine has read in ledgers, newest first. */
function jobs({ system }: Sources): Suggestion[] {
  const claims = readLedgers(system, (ledgers) => claimsSeen(ledgers, NEWEST_CYCLES));
  return claims.map(({ job, cycle, file }) => [job, cycle === null ? file : `${file}, cycle ${cycle}`]);
}

/** Reads this machine's copies of ledgers. Returns nothing if reading fails. */
function readLedgers<T>(system: PathsHost, read: (directory: string) => readonly T[]): readonly T[] {
  try {
    const state = directoryOf(system, 'state');
    return state === undefined ? [] : read(join(state, 'ledger'));
  } catch {
    return [];
  }
}

// `settings.*` covers every key of `settings`, which is also a field. `*` covers every field.
function fieldNames(fields: readonly string[]): string[] {
  const names = fields.map((field) => field.replace(/\.\*$/, '')).filter((field) => field !== '*');
  return [...new Set(names)];
}

// Completion must not change files, so this reads the config file without repairing its permissions.
function storedProfiles(system: PathsHost): Suggestion[] {
  try {
    const directory = directoryOf(system, 'config');
    if (directory === undefined) return [];
    const config: unknown = JSON.parse(readRegularFileSync(join(directory, CONFIG_FILE_NAME)));
    if (!isObject(config) || !isObject(config['profiles'])) return [];
    return Object.entries(config['profiles'])
      .filter(([name]) => profileNameProblem(name) === undefined)
      .map(([name, profile]) => {
        const url = isObject(profile) ? profile['base_url'] : undefined;
        return [name, typeof url === 'string' ? url : ''];
      });
  } catch {
    return [];
  }
}

export interface Completable {
  readonly tree: readonly Entry[];
  readonly globals: Parameters;
  /** The topics that can follow `svc help` besides commands, with descriptions. */
  readonly topics: readonly Suggestion[];
}

/** What the typed words mean: the state from which the next word is completed. */
interface ParseState {
  readonly next: readonly Entry[];
  /** The command being typed; undefined before its name is complete. */
  readonly command: Command | undefined;
  /** Every option that is allowed here, including options already given. */
  readonly options: readonly Parameter<unknown>[];
  readonly given: ReadonlySet<Parameter<unknown>>;
  readonly arguments: readonly string[];
  /** The option that takes the next word as its value. */
  readonly pending: Parameter<unknown> | undefined;
  /** Whether `--` was typed, after which all words are arguments. */
  readonly argumentsOnly: boolean;
  /** Whether the words follow `svc help`. */
  readonly help: boolean;
}

const HELP: Parameter<unknown> = option('-h, --help', 'show help');
const VERSION: Parameter<unknown> = option('-V, --version', 'show the version');

/** Parses typed words along the command tree. Loads only the commands and groups that the words name. */
export async function walk(
  { tree, globals }: Omit<Completable, 'topics'>,
  words: readonly string[],
): Promise<ParseState> {
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

function optionNamed(at: ParseState, word: string): Parameter<unknown> | undefined {
  return at.options.find((candidate) => optionWords(candidate).includes(word));
}

function argumentsOf(command: Command | undefined): Parameter<unknown>[] {
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
