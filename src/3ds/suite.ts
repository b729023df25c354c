// Reads a suite of test scenarios from YAML or JSON.

import { SvcError } from '../base/errors.ts';
import { containsCardNumber } from '../base/security/card-number.ts';
import { didYouMean, typedWord } from '../base/security/typed-word.ts';
import type { ValueParser } from '../cli/app/value-parsers.ts';
import { isObject } from '../schema/json-value.ts';
import { ownMember } from '../schema/own-member.ts';
import { OUTCOME_WORDS, outcomeWord } from '../schema/three-ds/outcome-words.ts';
import { AUTHENTICATION_STATUSES, SESSION_TYPES, type SessionType } from '../schema/three-ds/values.ts';

/** One authentication and its expected outcome. */
export interface Scenario {
  readonly name: string;
  /** A test card of the sandbox: the name of its scenario, a unique beginning of that name, its masked number, or its last four digits. */
  readonly card?: string | undefined;
  readonly token?: string | undefined;
  readonly token_intent?: string | undefined;
  readonly type: SessionType;
  /** The file of the body. Default: an example body. */
  readonly body?: string | undefined;
  /** The expected status of the authentication, or the HTTP status of its refusal. Required in a suite. */
  readonly expect?: string | undefined;
  /** The expected reason of the status, or of a canceled challenge. Default: any reason. */
  readonly reason?: string | undefined;
  /** The outcome to set at the sandbox for the session, such as `reason=card-expired`. */
  readonly outcome?: string | undefined;
  /** The cardholder's reply to a challenge of the sandbox. */
  readonly challenge: ChallengeReply;
}

export const CHALLENGE_REPLIES = ['complete', 'cancel'] as const;

export type ChallengeReply = (typeof CHALLENGE_REPLIES)[number];

/** The value of a file, and the line of each member. */
interface SuiteFile {
  readonly name: string;
  readonly value: unknown;
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined;
}

/** A rule for the value of a member. */
interface Rule {
  /** The description of valid values. */
  readonly words: string;
  readonly holds: (value: unknown) => boolean;
  /** The values to suggest for a mistyped one. */
  readonly choices?: readonly string[];
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && /^\P{Cc}{1,200}$/u.test(value) && value.trim() !== '';
const text = (words: string): Rule => ({
  words,
  holds: (value) => isText(value) && !containsCardNumber(value, 'cell') && !containsCardNumber(value),
});

/** The reasons of a status and of a canceled challenge. */
const REASONS = [...(OUTCOME_WORDS['reason'] ?? []), ...(OUTCOME_WORDS['cancel'] ?? [])];

const RULES: Readonly<Record<keyof Scenario, Rule>> = {
  name: text('a text of one line that contains no card number'),
  card: text('a scenario of the sandbox, a masked number, or its last four digits'),
  token: text('the id of a token, and no card number'),
  token_intent: text('the id of a token, and no card number'),
  type: oneOf(SESSION_TYPES),
  body: text('the name of a file'),
  expect: {
    words: `${AUTHENTICATION_STATUSES.join(', ')}, or an HTTP status such as 424`,
    holds: (value) => AUTHENTICATION_STATUSES.some((status) => status === value) || /^[45]\d\d$/.test(String(value)),
    choices: AUTHENTICATION_STATUSES,
  },
  reason: {
    words: 'a reason of a status or of a canceled challenge',
    holds: (value) => REASONS.some((reason) => reason === value),
    choices: REASONS,
  },
  outcome: {
    words: 'an outcome of the sandbox, such as reason=card-expired',
    // Without a target: the outcome is set for the scenario's own session.
    holds: (value) => typeof value === 'string' && value.split(',').every((word) => outcomeWord(word) !== undefined),
  },
  challenge: oneOf(CHALLENGE_REPLIES),
};

/** Returns the parser of an option with the same rule as a member of a scenario. */
export function memberParser(name: 'expect' | 'reason' | 'outcome'): ValueParser<string> {
  return (typed) => {
    const { words, holds, choices = [] } = RULES[name];
    if (holds(typed)) return typed;
    throw new SvcError('usage', `must be ${words}`, {
      hint: didYouMean(typed, choices),
      next: name === 'outcome' ? ['help', 'outcomes'] : undefined,
    });
  };
}

/** Members that may also be beside the list, as defaults for all scenarios. */
const DEFAULTS = ['type', 'body', 'challenge'];

/**
 * Reads a suite: `scenarios`, each with a unique name, a card or token, and the expected outcome.
 * @throws SvcError `refused_input` with every problem and its line
 */
export function readSuite(file: SuiteFile): Scenario[] {
  const { value, lineOf, name } = file;
  const problems: [line: number, words: string][] = [];
  const report: Report = (path, words) => void problems.push([lineOf(path) ?? 0, words]);
  const { scenarios, ...defaults } = isObject(value) ? value : {};
  const list: readonly unknown[] = Array.isArray(scenarios) ? scenarios : [];
  if (list.length === 0) report(['scenarios'], 'scenarios must be a list of at least one');
  checkMembers(defaults, ['scenarios', ...DEFAULTS], [], report);
  const names = new Set<unknown>();
  for (const [at, item] of list.entries()) {
    const path = ['scenarios', at];
    if (!isObject(item)) report(path, 'a scenario must be an object with name, card and expect');
    else {
      checkMembers(item, Object.keys(RULES), path, report);
      for (const words of missingIn(item)) report(path, words);
      if (names.has(item['name'])) report([...path, 'name'], 'an earlier scenario has the same name');
      names.add(item['name']);
    }
  }
  if (problems.length > 0) throw refusedSuite(name, problems);
  return list.filter((item) => isObject(item)).map((item) => scenarioOf(item, defaults));
}

type Members = Readonly<Record<string, unknown>>;

// The members are checked already. YAML reads an expected 424 as a number.
function scenarioOf(item: Members, defaults: Members): Scenario {
  const usual = { type: 'customer', challenge: 'complete' };
  return { ...usual, ...defaults, ...item, expect: String(item['expect']) } as Scenario;
}

type Report = (path: readonly (string | number)[], words: string) => void;

function checkMembers(members: Members, known: readonly string[], path: readonly (string | number)[], report: Report) {
  for (const [key, value] of Object.entries(members)) {
    const rule = ownMember(RULES, key);
    if (!known.includes(key)) {
      const question = didYouMean(key, known);
      report([...path, key], `unknown member ${typedWord(key, known)}${question === undefined ? '' : `. ${question}`}`);
    } else if (rule?.holds(value) === false) report([...path, key], `${key} must be ${rule.words}`);
  }
}

function missingIn(item: Members): string[] {
  const cards = ['card', 'token', 'token_intent'].filter((key) => item[key] !== undefined);
  return [
    ...['name', 'expect'].filter((key) => item[key] === undefined).map((key) => `${key} is missing`),
    ...(cards.length === 1 ? [] : ['exactly one of card, token and token_intent is needed']),
  ];
}

export function refusedSuite(name: string, problems: readonly (readonly [line: number, words: string])[]): SvcError {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const sorted = problems.toSorted(([one], [other]) => one - other);
  return new SvcError('refused_input', `${name}: ${count}; nothing was sent`, {
    hint: 'Fix these lines and run the command again.',
    facts: { problems: sorted.slice(0, 50).map(([line, words]) => (line === 0 ? words : `line ${line}: ${words}`)) },
  });
}

function oneOf(values: readonly string[]): Rule {
  return { words: values.join(' or '), holds: (value) => values.some((one) => one === value) };
}
