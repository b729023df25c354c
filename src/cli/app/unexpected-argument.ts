import { isShowable, typedWord } from '../../base/security/typed-word.ts';
import { GLOBAL_PARAMETERS } from './global-parameters.ts';
import type { Habits } from './habits.ts';
import { mendedLine, typedWords } from './mended-line.ts';
import { optionWords, type Parameter, type Parameters } from './parameter.ts';
import { argumentsOf, isFile, type Mistake, parameterOf, type Place, placeholder } from './place.ts';
import { isOfKind, optionsFor } from './value-kind.ts';

const DAY = /^(?:\d{4}-\d\d-\d\d|today|yesterday)$/;
const TIME_OF_DAY = /^\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?$/;

/** Explains an argument that the command does not take: it may be the value of an option, or belong elsewhere. */
export async function unexpectedArgument(place: Place): Promise<Mistake> {
  const { parser, words, habits, parameters } = place;
  const at = argumentsOf(parameters).length;
  const extra = parser.args[at] ?? '';
  const path = words.split(' ').slice(1);
  const habit = commandHabit(habits, [...path, extra], path.length + 1);
  const option = habit === undefined ? await asOption(extra, path, place, parameters) : undefined;
  const shown = option?.shown === true ? `"${extra}"` : typedWord(extra);
  const message = `unexpected argument ${shown} for '${words}'`;
  if (habit !== undefined) return { message, hint: habit[2], next: habit[1].split(' ') };
  if (option !== undefined) return { message, ...option.instead };
  const joined = asOneWord(extra, place);
  if (joined !== undefined) return { message: `unexpected argument "${extra}" for '${words}'`, ...joined };
  return { message, ...extraWord(place, extra) };
}

/** The words of a command, its counterpart, and why. */
export type CommandHabit = Required<Habits>['commands'][number];

/** Finds the habit that matches most words, at least `least` of them. */
export function commandHabit(
  { commands }: Required<Habits>,
  typed: readonly string[],
  least: number,
): CommandHabit | undefined {
  for (let count = Math.min(typed.length, 3); count >= least; count -= 1) {
    const words = typed.slice(0, count).join(' ');
    const habit = commands.find(([known]) => known === words);
    if (habit !== undefined) return habit;
  }
  return undefined;
}

/** Returns where one word too many of this command usually belongs, with the file in it if the word names one. */
export function extraWord(place: Place, extra: string): Partial<Mistake> {
  const habit = place.habits.extraWords.find(([command]) => `svc ${command}` === place.words);
  if (habit === undefined) return {};
  const [, instead, why] = habit;
  return {
    hint: why,
    next: instead.split(' ').map((word) => (word === '<file>' && isFile(place, extra) ? extra : word)),
  };
}

/**
 * Returns the command with the option that takes a word. An id is not repeated, since a key may look like one (R05).
 */
export async function asOption(
  word: string,
  path: readonly string[],
  place: Place,
  parameters: Parameters,
): Promise<{ readonly shown: boolean; readonly instead: Partial<Mistake> } | undefined> {
  const free = Object.values(parameters).filter((parameter) => !isGiven(parameter, place));
  const found = optionsFor(word, free, await place.meanings(), (one) => isFile(place, one));
  if (found === undefined) return undefined;
  const isId = found.shape === 'id';
  const { at = -1 } = typedWords(place.argv, parameters).findLast(({ text }) => text === word) ?? {};
  const commands = found.options.slice(0, 3).map((option) => {
    const words = [optionWords(option).at(-1) ?? '', isId ? placeholder(option.syntax) : word];
    return mendedLine(place, { path, parameters, instead: new Map([[at, words]]) });
  });
  const [next, ...alternatives] = commands;
  const hint = isId ? 'An id is the value of an option.' : undefined;
  return { shown: !isId, instead: { hint, next, ...(isId && { alternatives }) } };
}

function isGiven(parameter: Parameter<unknown>, { argv }: Place): boolean {
  return parameter.kind !== 'repeated' && optionWords(parameter).some((name) => argv.includes(name));
}

/**
 * Explains a time of day after the date of an option, as in `--since 2026-11-26 22:00`. As a time of another option it
 * would select the opposite range.
 */
export function asOneTime(place: Place): Mistake | undefined {
  const { argv, parameters, words } = place;
  const typed = typedWords(argv, parameters);
  const found = typed.findIndex(({ text, option }, index) => {
    const { value = '' } = typed[index - 1] ?? {};
    return option === undefined && TIME_OF_DAY.test(text) && DAY.test(value);
  });
  const [before, word] = typed.slice(found - 1, found + 1);
  if (found < 1 || before?.parameter === undefined || word === undefined) return undefined;
  const { at, option: name = '', parameter, value = '' } = before;
  const time = /^\d/.test(value) ? `${value}T${word.text}` : `${value} ${word.text}`;
  if (!isOfKind(parameter, time, [])) return undefined;
  const instead = new Map([
    [at, [name, time]],
    [word.at, []],
  ]);
  return {
    message: `unexpected argument "${word.text}" for '${words}'`,
    hint: `${name} takes a date and a time of day as one word.`,
    next: mendedLine(place, { path: words.split(' ').slice(1), parameters, instead }),
  };
}

/** Explains a second word after the value of an option, as in `--name Acme Corp`. */
function asOneWord(extra: string, place: Place): Partial<Mistake> | undefined {
  const at = place.argv.indexOf(extra);
  const [name = '', value = ''] = place.argv.slice(at - 2, at);
  const parameter = at < 2 ? undefined : parameterOf(name, { ...place.parameters, ...GLOBAL_PARAMETERS });
  if (parameter?.kind !== 'value' || !isShowable(value) || !/^[a-z]{1,20}$|^\d{1,5}$/i.test(extra)) return undefined;
  const one = [`${value} ${extra}`, `${value}-${extra}`].find((text) => isTaken(parameter, text));
  if (one === undefined) return undefined;
  const { parameters, words } = place;
  const instead = new Map([
    [at - 2, [name, one]],
    [at, []],
  ]);
  return {
    hint: `${name} takes one word, or one text in quotes.`,
    next: mendedLine(place, { path: words.split(' ').slice(1), parameters, instead }),
  };
}

function isTaken({ parse }: Parameter<unknown>, text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
