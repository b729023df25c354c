import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Outcome } from '../../src/au/job/verdict.ts';
import { type ErrorCode, EXIT_CODES } from '../../src/base/errors.ts';
import { topicPage } from '../../src/cli/app/topics.ts';
import { ENTITY_TYPES } from '../../src/cli/config/cache.ts';
import { RESULT_STEPS } from '../../src/cli/config/result-steps.ts';
import { EVERY_MEANING as meanings } from '../../src/general/every-meaning.ts';
import { meaningsIn, meaningsOf, wordsIn } from '../../src/cli/glossary/glossary.ts';
import ownWords from '../../src/general/codes.json' with { type: 'json' };
import { THREE_DS_CARDS } from '../../src/emulator/seed/test-cards.ts';
import { TRIGGER_TYPES } from '../../src/events/trigger-types.ts';
import {
  MAX_REQUEST_FILE_BYTES,
  MAX_REQUEST_FILE_ROWS,
  SANDBOX_MERCHANT_ID,
} from '../../src/schema/account-updater-files.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../src/schema/page-size.ts';
import { type KeyType, MAX_TENANT_NAME_LENGTH, type TenantType } from '../../src/schema/tenant.ts';
import { allCommands } from '../support/tree.ts';

const schemaRoot = new URL('../../src/schema/', import.meta.url);
const modules = await Promise.all(
  readdirSync(schemaRoot, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map(async (file) => (await import(fileURLToPath(new URL(file, schemaRoot)))) as Record<string, unknown>),
);
const exported = modules.flatMap((module) => Object.entries(module));

/** Tables of lists, each of which is exported by itself too. */
const TABLES_OF_LISTS = new Set(['BODY', 'OUTCOME_WORDS']);

/** The kind in the glossary of each list of values that src/schema exports. A new list needs a row here. */
const KIND_OF_LIST: Readonly<Record<string, string>> = {
  REQUEST_COLUMNS: 'request column',
  RESULT_COLUMNS: 'result column',
  JOB_STATUSES: 'job status',
  RESULT_CODES: 'result code',
  EVENT_TYPES: 'event',
  LOG_OPERATIONS: 'operation',
  LOG_FIELDS: 'field of a log entry',
  BOOLEAN_TENANT_SETTINGS: 'tenant setting',
  DEDUPLICATION_BEHAVIORS: 'token deduplication behavior',
  SESSION_TYPES: 'session type',
  AUTHENTICATION_STATUSES: 'authentication status',
  AUTHENTICATION_STATUS_CODES: 'authentication status',
  STATUS_REASONS: 'authentication status reason',
  CHALLENGE_TYPES: 'challenge type',
  WHITELIST_STATUSES: 'whitelist status',
  WHITELIST_SOURCES: 'whitelist status source',
  CHALLENGE_CANCEL_REASON_CODES: 'challenge cancel reason',
  CHALLENGE_PREFERENCE_CODES: 'challenge preference',
  AUTHENTICATION_CATEGORIES: 'authentication category',
  SESSION_TYPES_BY_AUTHENTICATION_TYPE: 'authentication type',
  TRANSACTION_TYPES: 'transaction type',
  DELIVERY_TIME_FRAMES: 'delivery time frame',
  SHIPPING_METHODS: 'shipping method',
  ACCOUNT_TYPES: 'account type',
  ACCOUNT_AGES: 'account age',
  ACCOUNT_CHANGES: 'account last changed',
  PASSWORD_CHANGES: 'account pwd last changed',
  SHIPPING_ADDRESS_USES: 'shipping address first used',
  CARDHOLDER_AUTHENTICATION_METHODS: 'cardholder authentication method',
  PRIOR_AUTHENTICATION_METHODS: 'prior authentication method',
};

/** The kind in the glossary of a member whose values a shape lists, where the name of the member does not say it. */
const KIND_OF_MEMBER: Readonly<Record<string, string>> = {
  type: 'session type',
  'authentication_info.method': 'cardholder authentication method',
  'prior_authentication_info.method': 'prior authentication method',
};

const TENANT_TYPES: Readonly<Record<TenantType, string>> = { production: '', test: '' };
const SUBMISSION_STATUSES = ['pending', 'completed', 'failed', 'unknown', 'already_submitted', 'nothing_new'];
const CYCLE_STATUSES = ['pending', 'completed', 'not completed', 'not polled'];
const CYCLE_OUTCOMES: Readonly<Record<Exclude<Outcome, ErrorCode>, string>> = { done: '', held: '' };
const KEY_TYPES: Readonly<Record<KeyType, string>> = { management: '', private: '' };

function namesOf(kind: string): string[] {
  return meanings.filter((meaning) => meaning.kind === kind).map(({ name }) => name);
}

function meaningOf(name: string): string {
  return meaningsOf(name, meanings)[0]?.means ?? '';
}

interface Member {
  /** The names from the outer object to the member. */
  readonly path: readonly string[];
  /** The values that the shape lists, if any. */
  readonly values: readonly string[];
}

function membersOf(shape: unknown, path: readonly string[] = []): Member[] {
  if (shape instanceof z.ZodMiniOptional || shape instanceof z.ZodMiniNullable)
    return membersOf(shape.def.innerType, path);
  if (shape instanceof z.ZodMiniArray) return membersOf(shape.def.element, path);
  if (shape instanceof z.ZodMiniUnion) return shape.def.options.flatMap((option) => membersOf(option, path));
  if (shape instanceof z.ZodMiniRecord) return membersOf(shape.def.valueType, path);
  if (shape instanceof z.ZodMiniEnum) return [{ path, values: shape.options.map(String) }];
  if (!(shape instanceof z.ZodMiniObject)) return [{ path, values: [] }];
  const own = path.length === 0 ? [] : [{ path, values: [] }];
  const below = Object.entries(shape.shape as object).flatMap(([name, member]) => membersOf(member, [...path, name]));
  return [...own, ...below];
}

const shapes = exported.filter(([, value]) => value instanceof z.ZodMiniType);

it('the glossary explains every value of the lists in src/schema', () => {
  const lists = exported.flatMap(([name, value]): [string, string[]][] => {
    if (value instanceof z.ZodMiniType || value instanceof RegExp || typeof value !== 'object' || value === null)
      return [];
    if (Array.isArray(value)) return value.every((one) => typeof one === 'string') ? [[name, value]] : [];
    return /^[A-Z_]+$/.test(name) && !TABLES_OF_LISTS.has(name) ? [[name, Object.keys(value)]] : [];
  });
  expect(lists.map(([name]) => name).toSorted()).toEqual(Object.keys(KIND_OF_LIST).toSorted());
  for (const [list, values] of lists)
    expect(namesOf(KIND_OF_LIST[list] ?? ''), list).toEqual(expect.arrayContaining([...values]));
});

it('the glossary explains every value that a shape in src/schema lists', () => {
  const listed = shapes.flatMap(([, shape]) => membersOf(shape)).filter(({ values }) => values.length > 0);
  expect(listed.length).toBeGreaterThan(15);
  for (const { path, values } of listed) {
    if (values.join() === 'true,false') continue;
    const member = path.at(-1) ?? '';
    const kind = KIND_OF_MEMBER[path.slice(-2).join('.')] ?? KIND_OF_MEMBER[member] ?? member.replaceAll('_', ' ');
    const known = meanings.filter((meaning) => meaning.kind === kind);
    const words = known.flatMap(({ name, code = '' }) => [name, code]);
    expect(words, path.join('.')).toEqual(expect.arrayContaining([...values]));
  }
});

it('the glossary explains every member of a response', () => {
  const fields = new Set(
    meanings.filter(({ kind }) => kind.startsWith('field of') || kind === 'tenant setting').map(({ name }) => name),
  );
  const names = shapes
    .filter(([name]) => name !== 'authenticateSchema')
    .flatMap(([, shape]) => membersOf(shape).map(({ path }) => path.at(-1) ?? ''));
  expect(names.length).toBeGreaterThan(100);
  expect([...new Set(names)].filter((name) => name !== '' && !fields.has(name))).toEqual([]);
});

it('the glossary explains every error code and exit code, and no other', () => {
  expect(namesOf('error code')).toEqual(Object.keys(EXIT_CODES));
  const codes = [0, ...new Set(Object.values(EXIT_CODES))].toSorted((a, b) => a - b);
  expect(namesOf('exit code').map(Number)).toEqual(codes);
  expect(meaningsOf('6', meanings).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
    'exit code 6',
    'challenge cancel reason error',
    'challenge preference no-challenge-data-sharing-only',
    'error code rejected',
    'error code conflict',
  ]);
});

it('the glossary and the page of exit codes say the same', async () => {
  const { sections } = await topicPage('exit-codes');
  const rows = sections.flatMap(({ rows: listed = [] }) => listed);
  const own = meaningsIn(ownWords).filter(({ kind }) => kind === 'exit code');
  const byNumber = rows.toSorted(([a], [b]) => Number(a) - Number(b));
  expect(own.map(({ name }) => name)).toEqual(byNumber.map(([number]) => number));
  expect(wordsIn(ownWords, 'exit code')).toEqual(byNumber);
});

it('the glossary explains every permission that a command names, the types of keys and tenants, and every status of a submission and of a cycle', async () => {
  const needed = (await allCommands()).flatMap(({ command }) => command.permissions ?? []);
  const permissions = new Set(needed.filter((name) => name.includes(':')));
  expect(namesOf('permission')).toEqual(expect.arrayContaining([...permissions]));
  expect(namesOf('tenant type')).toEqual(Object.keys(TENANT_TYPES));
  expect(namesOf('key type')).toEqual(Object.keys(KEY_TYPES));
  expect(namesOf('submission status')).toEqual(SUBMISSION_STATUSES);
  expect(namesOf('cycle status')).toEqual(CYCLE_STATUSES);
  expect(namesOf('outcome of a cycle')).toEqual(Object.keys(CYCLE_OUTCOMES));
  expect(namesOf('merchant id')).toEqual([SANDBOX_MERCHANT_ID]);
});

it('the glossary explains every entity type, action and event type, and the scenario of every test card', () => {
  expect(namesOf('entity type').toSorted()).toEqual([...ENTITY_TYPES]);
  expect(namesOf('action')).toEqual([...RESULT_STEPS]);
  expect(namesOf('event').toSorted()).toEqual(TRIGGER_TYPES.toSorted());
  const scenarios = new Set(THREE_DS_CARDS.map(({ scenario }) => scenario));
  expect(namesOf('test card scenario').toSorted()).toEqual([...scenarios].toSorted());
});

it('the glossary explains every operation of the service that the documentation lists, with its permission', () => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([A-Z]+ [^`]+)` \|.*\| (.+) \|$/gm)];
  expect(namesOf('endpoint')).toEqual(rows.map(([, operation]) => operation));
  for (const [, operation = '', permission = ''] of rows)
    expect(meaningsOf(operation, meanings)[0]?.means).toContain(
      permission.split(':')[0] === 'none' ? 'no key' : permission,
    );
});

it('the glossary has the limits of the code', () => {
  expect(meaningOf('page size')).toContain(`${DEFAULT_PAGE_SIZE} items`);
  expect(meaningOf('page size')).toContain(`at most ${MAX_PAGE_SIZE}`);
  expect(meaningOf('tenant name length')).toContain(`${MAX_TENANT_NAME_LENGTH} characters`);
  expect(meaningOf('request file size')).toContain(`${MAX_REQUEST_FILE_BYTES / 1e6} MB`);
  expect(meaningOf('request file size')).toContain(`${MAX_REQUEST_FILE_ROWS / 1000} thousand tokens`);
});

it('the glossary is made of sentences, and explains no word of a kind twice', () => {
  for (const { kind, name, means, next = 'It.' } of meanings)
    for (const text of [means, next]) expect(text, `${kind} ${name}`).toMatch(/^[A-Z\ds'].*\.$/);
  const words = meanings.map(({ kind, name }) => `${kind}: ${name}`);
  expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
});

it.each([
  ['update_existing', ['token deduplication behavior: update_existing']],
  ['Update-Existing', ['token deduplication behavior: update_existing']],
  ['cavv', ['field of an authentication: authentication_value']],
  ['retention', ['limit: log availability']],
  ['429', ['HTTP status: 429']],
  ['log:read', ['permission: log:read']],
  ['account-updater.job.completed', ['event: account-updater.job.completed']],
  ['key types', ['key type: management', 'key type: private']],
  ['fields of method', ['field of method: method_url', 'field of method: method_completion_indicator']],
  ['zzz', []],
])('the word %s finds its meanings', (word, found) => {
  expect(meaningsOf(word, meanings).map(({ kind, name }) => `${kind}: ${name}`)).toEqual(found);
});
