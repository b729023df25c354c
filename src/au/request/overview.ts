// Describes all rows of a file together: tokens, merchants and expirations, and what is strange about them.

import { countText, formatNumber } from '../../cli/output/number.ts';
import { TEST_CARD_EXPIRATION } from '../../schema/account-updater-files.ts';
import { type Check, CHECKS, type Doubt } from './checks.ts';
import { isChangedNumber, isMarkedText, markOf } from './marks.ts';
import { CountedLines, type FileOverview, type Finding } from './request-file.ts';
import { tokenShape, unwrappedUuid } from './token-shape.ts';

/** A row of a request. `isUuid` tells whether its token has the shape of a UUID. */
export interface OverviewRow {
  readonly token: string;
  readonly isUuid: boolean;
  readonly year: string;
  readonly month: string;
  readonly merchant: string;
}

const MAX_MERCHANTS = 1_000;
const MAX_SHAPES = 50;
const SHAPES_SHOWN = 3;
const MERCHANTS_SHOWN = 3;
const MIN_NAMED = 3;
const CENTURY_MONTHS = 1_200;
/** The largest number of months for which a card is valid. */
const FAR_MONTHS = 20 * 12;
/** Years from now beyond which an expiration is a placeholder or misread. */
const LATEST_YEAR = 25;
const EARLIEST_YEAR = -20;
const LONG_PAST_MONTHS = 24;
const [TEST_CARD_YEAR, TEST_CARD_LAST] = TEST_CARD_EXPIRATION;
/** The expiration of test cards. It is long past on purpose. */
const TEST_CARD_MONTH = (TEST_CARD_YEAR - 2000) * 12 + TEST_CARD_LAST - 1;
/** With fewer rows, a share means nothing. */
const MIN_ROWS = 20;

interface Merchant {
  rows: number;
  readonly problem: Finding | undefined;
}

/** Collects the overview of a file from its rows, in bounded memory. */
export class Overview {
  readonly #accept: ReadonlySet<Check>;
  readonly #accepted = new Set<Check>();
  readonly #thisMonth: number | undefined;
  /** 1 for the last two digits of years in which no card expires. */
  readonly #wrongYears = new Uint8Array(100);
  readonly #months = new Uint32Array(CENTURY_MONTHS);
  readonly #others = new CountedLines();
  readonly #shapes = new Map<string, number>();
  readonly #merchants = new Map<string, Merchant>();
  #hasMoreMerchants = false;
  #withMerchant = 0;
  #rows = 0;

  /** `now` in milliseconds tells which expirations are past. Without it, expirations are not judged. */
  constructor(now?: number, accept: readonly Check[] = []) {
    this.#accept = new Set(accept);
    if (now === undefined) return;
    const date = new Date(now);
    const year = date.getUTCFullYear() - 2000;
    this.#thisMonth = year * 12 + date.getUTCMonth();
    for (let each = 0; each < 100; each += 1)
      if (each > year + LATEST_YEAR || each < year + EARLIEST_YEAR) this.#wrongYears[each] = 1;
  }

  /** Returns the problem of an implausible row; undefined for a plausible one. */
  problemOf({ token, isUuid, year, merchant }: Omit<OverviewRow, 'month'>): Finding | undefined {
    const ofToken = isUuid ? undefined : tokenProblem(token);
    if (this.#isRefused(ofToken)) return ofToken;
    const ofYear = year !== '' && this.isWrongYear(Number(year)) ? WRONG_YEAR : undefined;
    if (this.#isRefused(ofYear)) return ofYear;
    const ofMerchant = merchant === '' ? undefined : this.#merchant(merchant).problem;
    return this.#isRefused(ofMerchant) ? ofMerchant : undefined;
  }

  /** Tells whether a finding is no accepted one, and records those. */
  #isRefused(finding: Finding | undefined): boolean {
    if (finding === undefined) return false;
    const accepted = CHECKS.find((check) => check === finding.rule && this.#accept.has(check));
    if (accepted !== undefined) this.#accepted.add(accepted);
    return accepted === undefined;
  }

  /** Tells whether no card expires in a year of this century. */
  isWrongYear(year: number): boolean {
    return this.#wrongYears[year] === 1;
  }

  /** Counts a row that is sent. */
  take({ token, isUuid, year, month, merchant }: OverviewRow, line: number): void {
    if (!isUuid) this.#takeOther(token, line);
    this.#rows += 1;
    if (merchant !== '') this.#count(this.#merchant(merchant));
    if (year !== '' && month !== '') this.#takeMonth(Number(year) * 12 + Number(month) - 1);
  }

  /**
   * Counts a row of a UUID whose merchant was counted before. Returns false, and counts nothing, if the row needs a closer
   * look. `month` is counted from January 2000, and is below 0 for none.
   */
  takePlain(month: number, merchant: string): boolean {
    if (month >= 0 && this.isWrongYear(Math.trunc(month / 12))) return false;
    if (merchant !== '') {
      const merchantRows = this.#merchants.get(merchant);
      if (merchantRows === undefined || merchantRows.problem !== undefined) return false;
      this.#count(merchantRows);
    }
    this.#rows += 1;
    if (month >= 0) this.#takeMonth(month);
    return true;
  }

  found(): FileOverview {
    const merchants = [...this.#merchants].filter(([, { rows }]) => rows > 0);
    const months = [...this.#months.keys()].filter((month) => this.#months[month] !== 0);
    const [from] = months;
    const thisMonth = this.#thisMonth ?? Number.NaN;
    const sum = (isCounted: (month: number) => boolean): number =>
      months.reduce((rows, month) => (isCounted(month) ? rows + (this.#months[month] ?? 0) : rows), 0);
    return {
      accepted: this.#accepted,
      rows: this.#rows,
      uuids: this.#rows - this.#others.count,
      others: this.#others,
      shapes: [...this.#shapes]
        .toSorted(([, a], [, b]) => b - a)
        .slice(0, SHAPES_SHOWN)
        .map(([shape, rows]) => ({ shape, rows })),
      merchants: this.#hasMoreMerchants ? undefined : merchants.length,
      withMerchant: this.#withMerchant,
      named: namesIn(merchants),
      zeros: withZeros(this.#merchants),
      from: from === undefined ? undefined : monthText(from),
      to: from === undefined ? undefined : monthText(months.at(-1) ?? from),
      dated: sum(() => true),
      past: sum((month) => month < thisMonth),
      longPast: sum((month) => month < thisMonth - LONG_PAST_MONTHS && month !== TEST_CARD_MONTH),
      far: sum((month) => month > thisMonth + FAR_MONTHS),
    };
  }

  #takeOther(token: string, line: number): void {
    this.#others.add(line);
    const shape = tokenShape(token);
    const rows = this.#shapes.get(shape);
    if (rows !== undefined || this.#shapes.size < MAX_SHAPES) this.#shapes.set(shape, (rows ?? 0) + 1);
  }

  #takeMonth(month: number): void {
    this.#months[month] = (this.#months[month] ?? 0) + 1;
  }

  #count(merchant: Merchant): void {
    merchant.rows += 1;
    this.#withMerchant += 1;
  }

  #merchant(name: string): Merchant {
    const merchantRows = this.#merchants.get(name);
    if (merchantRows !== undefined) return merchantRows;
    const merchant = { rows: 0, problem: merchantProblem(name) };
    if (this.#merchants.size < MAX_MERCHANTS) this.#merchants.set(name, merchant);
    else this.#hasMoreMerchants = true;
    return merchant;
  }
}

function tokenProblem(token: string): Finding | undefined {
  if (isChangedNumber(token)) return NUMBER_AS_TOKEN;
  if (markOf(token) !== undefined) return MARK_AS_TOKEN;
  if (unwrappedUuid(token) !== undefined) return WRAPPED;
  return isMarkedText(token) ? MARKED_TOKEN : undefined;
}

function merchantProblem(name: string): Finding | undefined {
  if (isChangedNumber(name)) return NUMBER_AS_MERCHANT;
  if (isMarkedText(name)) return MARKED_MERCHANT;
  return markOf(name) === undefined ? undefined : MARK_AS_MERCHANT;
}

/** Returns the doubts about a file as a whole. */
export function doubtsOf(overview: FileOverview, accept: readonly Check[] = []): Doubt[] {
  const { dated, longPast, others, rows } = overview;
  const doubts: Doubt[] = [];
  if (isMixed(overview))
    doubts.push({
      check: 'tokens',
      problem: `${formatNumber(others.count)} of ${countText(rows, 'token')} are no UUIDs, as the others are: ${shapesText(overview)}`,
    });
  if (dated >= MIN_ROWS && longPast * 2 > dated)
    doubts.push({
      check: 'past',
      problem: `${formatNumber(longPast)} of ${countText(dated, 'card')} expired more than ${LONG_PAST_MONTHS} months ago`,
    });
  return doubts.filter(({ check }) => !accept.includes(check));
}

/** Tells whether a file has tokens of another shape among UUIDs. */
export function isMixed({ rows, uuids, others }: FileOverview): boolean {
  return rows >= MIN_ROWS && others.count > 0 && uuids * 2 >= rows;
}

/** The fields of the members below. */
export const OVERVIEW_FIELDS = [
  'tokens',
  'tokens.uuids',
  'tokens.others',
  'tokens.shapes',
  'tokens.shapes.*',
  'merchants',
  'merchants.different',
  'merchants.rows',
  'expirations',
  'expirations.from',
  'expirations.to',
  'expirations.rows',
  'expirations.past',
  'expirations.far_ahead',
] as const;

/** The members of a machine-readable description of a file. */
export function overviewMembers({ uuids, others, shapes, ...of }: FileOverview) {
  return {
    tokens: { uuids, others: others.count, shapes: Object.fromEntries(shapes.map(({ shape, rows }) => [shape, rows])) },
    merchants: { different: of.merchants ?? null, rows: of.withMerchant },
    expirations: { from: of.from ?? null, to: of.to ?? null, rows: of.dated, past: of.past, far_ahead: of.far },
  };
}

/** Describes a file in three lines: its tokens, merchants and expirations. `days` is a note about the days of its dates. */
export function overviewLines(overview: FileOverview, days?: string): string[] {
  const { rows, uuids, others, merchants, withMerchant, named, zeros, from, to, dated, past, far } = overview;
  if (rows === 0) return [];
  const tokens = others.count === 0 ? countText(uuids, 'UUID') : otherTokens(overview);
  const more = (merchants ?? 0) > named.length ? ', …' : '';
  const different =
    merchants === undefined
      ? `more than ${formatNumber(MAX_MERCHANTS)} different`
      : `${formatNumber(merchants)}${named.length === 0 ? '' : ` (${named.join(', ')}${more})`}`;
  const same = zeros === undefined ? [] : [`one occurs with and without zeros at its beginning`];
  const spread = from === to ? `${from}` : `${from} to ${to}`;
  return [
    `tokens: ${tokens}`,
    `merchants: ${withMerchant === 0 ? 'none' : [different, ...without(rows - withMerchant), ...same].join('; ')}`,
    `expirations: ${
      dated === 0
        ? 'none, the service uses what each token stores'
        : [
            spread,
            ...(past === 0 ? [] : [`${formatNumber(past)} past`]),
            ...(far === 0 ? [] : [`${formatNumber(far)} more than 20 years ahead`]),
            ...without(rows - dated),
            ...(days === undefined ? [] : [days]),
          ].join('; ')
    }`,
  ];
}

/** Describes the tokens of a file without UUIDs; undefined if some tokens are UUIDs. */
export function strangeTokens(overview: FileOverview): string | undefined {
  return overview.rows > 0 && overview.uuids === 0 ? `no token is a UUID: ${shapesText(overview)}` : undefined;
}

function without(count: number): string[] {
  return count === 0 ? [] : [`${countText(count, 'row')} without one`];
}

function otherTokens(overview: FileOverview): string {
  const { uuids, others } = overview;
  if (uuids === 0) return `none of ${formatNumber(others.count)} is a UUID: ${shapesText(overview)}`;
  return `${countText(uuids, 'UUID')}, ${formatNumber(others.count)} other: ${shapesText(overview)}`;
}

/** Lists the shapes of tokens that are no UUIDs, the most frequent first. */
function shapesText({ others, shapes }: FileOverview): string {
  const shown = shapes.reduce((sum, { rows }) => sum + rows, 0);
  return `${shapes.map(({ shape }) => shape).join(', ')}${shown < others.count ? ', …' : ''}`;
}

/** The form of a merchant that is an id. Names of cardholders have blanks. */
const ID = /^[\p{L}\p{N}_.:/#-]{1,40}$/u;

function namesIn(merchants: readonly (readonly [string, Merchant])[]): string[] {
  const named = merchants.filter(([name, { rows }]) => rows >= MIN_NAMED && ID.test(name));
  return named
    .toSorted(([, a], [, b]) => b.rows - a.rows)
    .slice(0, MERCHANTS_SHOWN)
    .map(([name]) => name);
}

function withZeros(merchants: ReadonlyMap<string, Merchant>): string | undefined {
  for (const name of merchants.keys()) {
    if (/^0\d+$/.test(name) && merchants.has(name.replace(/^0+/, ''))) return name;
  }
  return undefined;
}

function monthText(month: number): string {
  return `20${String(Math.trunc(month / 12)).padStart(2, '0')}-${String((month % 12) + 1).padStart(2, '0')}`;
}

const WRONG_YEAR: Finding = {
  rule: 'years',
  column: 'expiration_year',
  problem: 'is more than 25 years ahead or 20 years ago',
};
const NUMBER = 'is a number that a spreadsheet changed, such as 4.4E+14 or 4456.0: export the column as text';
const NUMBER_AS_TOKEN: Finding = { rule: 'numbers', column: 'token', problem: NUMBER };
const NUMBER_AS_MERCHANT: Finding = { rule: 'numbers', column: 'merchant_id', problem: NUMBER };
const MARKED = 'begins with the apostrophe by which a spreadsheet marks text: export the column without it';
const MARKED_TOKEN: Finding = { rule: 'numbers', column: 'token', problem: MARKED };
const MARKED_MERCHANT: Finding = { rule: 'numbers', column: 'merchant_id', problem: MARKED };
const MARK_AS_TOKEN: Finding = { rule: 'token_empty', column: 'token', problem: 'is a mark for nothing, such as NULL' };
const MARK_AS_MERCHANT: Finding = {
  rule: 'marks',
  column: 'merchant_id',
  problem: 'is a mark for nothing, such as NULL: leave the cell empty',
};
const WRAPPED: Finding = {
  rule: 'tokens',
  column: 'token',
  problem: 'is a UUID in quotes, braces or an address: take them off, or prepare the file',
};
