import type { ValueParser } from './value-parsers.ts';

/** One option or argument of a command. The parser, help and completion are derived from it. */
export interface Parameter<T> {
  readonly kind: 'argument' | 'flag' | 'value' | 'repeated';
  /** `--entity-type <type>` for an option, `<file>` or `[job]` for an argument. */
  readonly syntax: string;
  readonly description: string;
  readonly choices?: readonly string[] | undefined;
  readonly default?: T | undefined;
  /** Conflicting options, by the names that the run function sees. */
  readonly conflicts?: readonly string[] | undefined;
  /** Environment variables that replace the option, for help. */
  readonly environment?: string;
  /** Values for completion, beyond choices and the syntax `<file>`, `<dir>` and `<job>`. */
  readonly suggest?: Suggest | undefined;
  /** Whether help and completion leave the option out. It works all the same. */
  readonly hidden?: boolean | undefined;
  /** Whether only the full help and the man page show the option: a first month does not need it. */
  readonly rare?: boolean | undefined;
  /** What the command does with the file that is named here. It never replaces a file that it reads. */
  readonly file?: FileUse | undefined;
  /** The usual ends of the names of the files that it takes, such as `.csv`. Hints about a missing file list these. */
  readonly extensions?: readonly string[] | undefined;
  readonly parse: ValueParser<unknown>;
}

/** A file is read, written, or both, like a list that the command reads and extends. */
export type FileUse = 'read' | 'written' | 'extended';

/** A value that completion offers, and its description. */
export type Suggestion = readonly [value: string, description: string];

/** The words of a kind in the glossary, with their meanings. */
interface WordsOfKind {
  readonly wordsOf: string;
}

/**
 * Words of the form `name=value`. Completion offers the entries that end in `=` first, and the others once a name is
 * typed.
 */
interface Assignments {
  readonly assignments: (typed: readonly string[]) => Promise<readonly Suggestion[]>;
}

/**
 * Words that are joined by commas or semicolons: each is completed by itself, and another may follow. Those that begin with
 * @ come after the words of a list, at the sign.
 */
interface Joined {
  readonly joined: () => readonly Suggestion[] | Promise<readonly Suggestion[]>;
}

/**
 * A source of values for completion: a kind of value stored on this machine, words of the glossary, or a function
 * without side effects, which gets the arguments typed before.
 */
export type Suggest =
  | 'profile'
  | 'entity type'
  | 'actor'
  | 'field'
  | 'job'
  | 'cycle'
  | WordsOfKind
  | Assignments
  | Joined
  | ((typed: readonly string[]) => readonly Suggestion[] | Promise<readonly Suggestion[]>);

/** The parameters of a command, by the name that its run function sees. Arguments are in typed order. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The typed input of a run function, by parameter. */
export type Input<P extends Parameters> = {
  readonly [Name in keyof P]: P[Name] extends Parameter<infer T> ? T : never;
};

const asTyped: ValueParser<string> = (value) => value;

export function argument(syntax: `<${string}>`, description: string, parse = asTyped): Parameter<string> {
  return { kind: 'argument', syntax, description, parse };
}

export function optionalArgument(
  syntax: `[${string}]`,
  description: string,
  parse = asTyped,
): Parameter<string | undefined> {
  return { kind: 'argument', syntax, description, parse };
}

/** Declares an argument that takes all remaining words, at least one. A word that looks like an option must follow `--`. */
export function rest(syntax: `<${string}...>`, description: string): Parameter<readonly string[]> {
  return { kind: 'argument', syntax, description, parse: asTyped };
}

/** Declares an argument that takes all remaining words, or none. */
export function optionalRest(syntax: `[${string}...]`, description: string): Parameter<readonly string[]> {
  return { kind: 'argument', syntax, description, parse: asTyped };
}

export function flag(syntax: string, description: string): Parameter<boolean> {
  return { kind: 'flag', syntax, description, default: false, parse: () => true };
}

export function value<T>(syntax: string, description: string, parse: ValueParser<T>): Parameter<T | undefined> {
  return { kind: 'value', syntax, description, parse };
}

export function choice<const C extends string>(
  syntax: string,
  description: string,
  choices: readonly C[],
): Parameter<C | undefined> {
  return { kind: 'value', syntax, description, choices, parse: asTyped };
}

export function repeated<T>(syntax: string, description: string, parse: ValueParser<T>): Parameter<readonly T[]> {
  return { kind: 'repeated', syntax, description, default: [], parse };
}

/** Declares that the command reads the file or directory that is named here, and how names of such files usually end. */
export function reading<T>(parameter: Parameter<T>, extensions: readonly string[] = []): Parameter<T> {
  const parse = (text: string): unknown => parameter.parse(parameter.kind === 'argument' ? noOption(text) : text);
  return { ...parameter, file: 'read', extensions, parse };
}

// A printed command would take a file named `-x.csv` for an option.
function noOption(path: string): string {
  return /^-./.test(path) ? `./${path}` : path;
}

/** The ends of the names of files with one document: a body, or settings. */
export const DOCUMENTS: readonly string[] = ['.json', '.yaml', '.yml'];

/** Declares that the command writes the file that is named here. */
export function writing<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, file: 'written' };
}

/** Declares that the command reads the file that is named here, and adds to it. */
export function extending<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, file: 'extended' };
}

export function optionWords(parameter: Parameter<unknown>): string[] {
  // The name of the value is cut off first, since `<json|->` contains a dash too.
  const words = parameter.syntax.replace(/ [<[].*$/, '').split(/[ ,]+/);
  return words.filter((word) => word.startsWith('-'));
}

export function suggesting<T>(suggest: Suggest, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, suggest };
}

/** Declares that `--help` leaves the option to the full help: a first month does not need it. */
export function rare<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, rare: true };
}

/** Declares an option that help and completion leave out, because hardly anybody needs it. */
export function hidden<T>(parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, hidden: true };
}

export function conflicting<T>(conflicts: readonly string[], parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, conflicts };
}

/** Returns a name with its `=`, and with each of its values, for completion. */
export function assignmentsOf(name: string, meaning: string, values: readonly Suggestion[]): Suggestion[] {
  const named: Suggestion = [`${name}=`, meaning];
  return [named].concat(values.map(([value, about]) => [`${name}=${value}`, about]));
}

export function takesValue(parameter: Parameter<unknown>): boolean {
  return parameter.kind === 'value' || parameter.kind === 'repeated';
}

/** Returns `<time>` for `--since <time>`, and one word for `<cycle|job>`, which a shell would read otherwise. */
export function placeholder(syntax: string): string {
  return `<${nameOf(syntax)}>`;
}

export function nameOf(syntax: string): string {
  return /[<[][^\w]*(\w(?:[\w.,=-]*\w)?)[^>\]]*[>\]]$/.exec(syntax)?.[1] ?? 'value';
}
