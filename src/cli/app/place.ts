import fs from 'node:fs';
import path from 'node:path';
import type { Command as Parser } from 'commander';
import type { Meaning } from '../glossary/glossary.ts';
import { type Command, type Entry, isGroup, isNamed } from './command.ts';
import type { Habits } from './habits.ts';
import { optionWords, type Parameter, type Parameters, takesValue } from './parameter.ts';

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
  readonly meanings: () => Promise<readonly Meaning[]>;
  /** The directory that typed paths start from. */
  readonly cwd: string;
}

/** What was wrong, and the command to run instead. */
export interface Mistake {
  readonly message: string;
  readonly hint?: string | undefined;
  readonly next?: readonly string[] | undefined;
  readonly alternatives?: readonly (readonly string[])[] | undefined;
}

/**
 * Returns the words of the typed command, without the default command of a group if it was not typed. An error in a
 * global option comes before the parser reaches the command.
 */
export async function typedPath({ words, tree, argv }: Place): Promise<string[]> {
  const typed = words.split(' ').slice(1);
  if (typed.length > 0) return argv.includes(typed.at(-1) ?? '') ? typed : typed.slice(0, -1);
  let entries = tree;
  for (const word of argv) {
    const entry = entries.find((one) => isNamed(one, word));
    if (entry === undefined) continue;
    typed.push(entry.name);
    const node = await entry.load();
    entries = isGroup(node) ? node.commands : [];
  }
  return typed;
}

/** Tells whether a typed word names a file. */
export function isFile(place: Pick<Place, 'cwd'>, typed: string): boolean {
  return statOf(place, typed)?.isFile() === true;
}

/** Tells whether a typed word names a directory. */
export function isDirectory(place: Pick<Place, 'cwd'>, typed: string): boolean {
  return statOf(place, typed)?.isDirectory() === true;
}

function statOf({ cwd }: Pick<Place, 'cwd'>, typed: string): fs.Stats | undefined {
  try {
    return typed === '' ? undefined : fs.statSync(path.resolve(cwd, typed));
  } catch {
    return undefined;
  }
}

/** Returns the command of these words; for a group, its default command. */
export async function commandAt(words: readonly string[], tree: readonly Entry[]): Promise<Command | undefined> {
  let entries = tree;
  let command: Command | undefined;
  for (const word of words) {
    const node = await entries.find(({ name }) => name === word)?.load();
    if (node === undefined) return undefined;
    if (!isGroup(node)) return node;
    entries = node.commands;
    const main = await entries.find(({ name }) => name === node.defaultCommand)?.load();
    command = main === undefined || isGroup(main) ? undefined : main;
  }
  return command;
}

/** Finds the parameter of an option such as `--limit` or `--output json`, or of an argument such as `<dir>`. */
export function parameterOf(meant: string, parameters: Parameters): Parameter<unknown> | undefined {
  const [name = ''] = meant.split(' ');
  const all = Object.values(parameters);
  if (/^[<[]/.test(meant))
    return all.find(({ kind, syntax }) => kind === 'argument' && placeholder(syntax) === placeholder(meant));
  return all.find((parameter) => optionWords(parameter).includes(name));
}

/** Returns an option as words, with a placeholder for a value that it needs. */
export function withValue(option: string, parameters: Parameters): string[] {
  const words = option.split(' ');
  const parameter = parameterOf(option, parameters);
  if (words.length > 1 || parameter === undefined || !takesValue(parameter)) return words;
  return [...words, placeholder(parameter.syntax)];
}

/** Returns `<time>` for `--since <time>`, and one word for `<job|run>`, which a shell would read otherwise. */
export function placeholder(syntax: string): string {
  return `<${nameOf(syntax)}>`;
}

export function nameOf(syntax: string): string {
  return /[<[][^\w]*(\w(?:[\w.,=-]*\w)?)[^>\]]*[>\]]$/.exec(syntax)?.[1] ?? 'value';
}

export function argumentsOf(parameters: Parameters): Parameter<unknown>[] {
  return Object.values(parameters).filter(({ kind }) => kind === 'argument');
}
