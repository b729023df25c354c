import { optionWords, type Parameter, type Suggestion, takesValue } from '../cli/parameter.ts';
import { cleanText, isUnsafe } from '../render/clean.ts';
import { suggestionsOf, type Sources } from './sources.ts';
import { argumentsOf, optionNamed, type Program, type Standing, walk } from './walk.ts';

/** What can stand where the cursor is. */
export interface Answer {
  /** `files` and `directories` are left to the shell, which knows best how to complete them. */
  readonly kind: 'words' | 'files' | 'directories';
  /** The start of the word that stays as it is: `--output=`, or `id,` in a list. The candidates come after it. */
  readonly prefix: string;
  readonly candidates: readonly Suggestion[];
  /** The word may go on after a candidate: no space is to follow. */
  readonly open: boolean;
}

/** Nothing is known that could stand here. */
export const NOTHING: Answer = { kind: 'words', prefix: '', candidates: [], open: false };

/** Answers what could complete `current`, the start of a word, after the words before it. */
export async function answer(
  program: Program,
  words: readonly string[],
  current: string,
  system: Sources['system'],
): Promise<Answer> {
  const at = await walk(program, words);
  const sources = { system, fields: at.command?.fields ?? [] };
  const found = await answerAt(at, program, current, sources);
  return { ...found, candidates: safe(found.candidates) };
}

async function answerAt(at: Standing, program: Program, current: string, sources: Sources): Promise<Answer> {
  if (at.help) return chosen(helpWords(at, program), current);
  if (at.pending) return valuesOf(at.pending, current, '', sources);
  if (!at.argumentsOnly) {
    const [name = ''] = current.split('=', 1);
    if (/^--[^=]+=/.test(current)) return joinedValue(at, name, current, sources);
    if (current.startsWith('-') && current !== '') return chosen(options(at, current), current);
  }
  const commands = at.next.map(({ name, summary }): Suggestion => [name, summary]);
  if (at.next === program.tree) commands.push(['help', 'help on a command or a topic']);
  const named = chosen(commands, current);
  if (named.candidates.length > 0) return named;
  const declared = argumentsOf(at.command);
  const last = declared.at(-1);
  const argument = declared[at.arguments] ?? (last?.syntax.includes('...') ? last : undefined);
  if (argument) return valuesOf(argument, current, '', sources);
  // Where nothing else can come, an empty word is a question for the options.
  return current === '' && !at.argumentsOnly ? chosen(options(at, '--'), '') : NOTHING;
}

function helpWords(at: Standing, { topics, tree }: Program): Suggestion[] {
  const commands = at.next.map(({ name, summary }): Suggestion => [name, summary]);
  return at.next === tree ? [...commands, ...topics] : commands;
}

// Options that were given are left out, unless they may be repeated.
function options(at: Standing, current: string): Suggestion[] {
  return at.options
    .filter((option) => option.kind === 'repeated' || !at.given.has(option))
    .flatMap((option) =>
      optionWords(option)
        .filter((word) => word.startsWith('--') || word === current)
        .map((word): Suggestion => [word, option.description.replace(/ \*$/, '')]),
    );
}

async function joinedValue(at: Standing, name: string, current: string, sources: Sources): Promise<Answer> {
  const option = optionNamed(at, name);
  if (!option || !takesValue(option)) return NOTHING;
  return valuesOf(option, current.slice(name.length + 1), `${name}=`, sources);
}

async function valuesOf(
  parameter: Parameter<unknown>,
  typed: string,
  prefix: string,
  sources: Sources,
): Promise<Answer> {
  if (parameter.choices)
    return chosen(
      parameter.choices.map((value) => [value, '']),
      typed,
      prefix,
    );
  const { suggest } = parameter;
  if (suggest === 'field') return fields(typed, prefix, sources);
  if (suggest) return chosen(await suggestionsOf(suggest, sources), typed, prefix);
  return valuesBySyntax(parameter.syntax, typed, prefix, sources);
}

// What a value is called tells what can stand there: `<file|->`, `<file...>`, `[dir]`, `<job|run>`.
async function valuesBySyntax(
  syntax: string,
  typed: string,
  prefix: string,
  sources: Sources,
): Promise<Answer> {
  const called = /[<[]([^>\]]+)/.exec(syntax)?.[1]?.replace('...', '').split('|') ?? [];
  const isOneOf = (...names: string[]): boolean => called.some((name) => names.includes(name));
  if (isOneOf('file', 'json', 'results', 'request', 'journal')) return { ...NOTHING, prefix, kind: 'files' };
  if (isOneOf('dir')) return { ...NOTHING, prefix, kind: 'directories' };
  const runs = isOneOf('run') ? await suggestionsOf('run', sources) : [];
  const jobs = isOneOf('job') ? await suggestionsOf('job', sources) : [];
  return chosen([...runs, ...jobs], typed, prefix);
}

// A comma-separated list: what stands before the last comma stays, and is not offered again.
async function fields(typed: string, prefix: string, sources: Sources): Promise<Answer> {
  const start = typed.lastIndexOf(',') + 1;
  const before = typed.slice(0, start);
  const taken = new Set(before.split(','));
  const all = await suggestionsOf('field', sources);
  const free = all.filter(([field]) => !taken.has(field));
  return { ...chosen(free, typed.slice(start), prefix + before), open: true };
}

function chosen(all: readonly Suggestion[], typed: string, prefix = ''): Answer {
  return { ...NOTHING, prefix, candidates: all.filter(([value]) => value.startsWith(typed)) };
}

// Some values were told by the service or read from a file: nothing of theirs may move a cursor or end a line.
function safe(candidates: readonly Suggestion[]): Suggestion[] {
  return candidates
    .filter(([value]) => value !== '' && !isUnsafe(value))
    .map(([value, description]) => [value, cleanText(description)]);
}
