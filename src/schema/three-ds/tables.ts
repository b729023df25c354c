import { text as countries } from './countries.csv';
import { text as currencies } from './currencies.csv';

/** A currency of ISO 4217, in use or historic. */
export interface Currency {
  /** The alphabetic code, such as `USD`. */
  readonly code: string;
  /** The numeric code, such as `840`. */
  readonly number: string;
  /** The digits behind the decimal point; undefined if ISO 4217 defines no minor unit. */
  readonly units: number | undefined;
  /** Whether people pay in the currency: false for precious metals, units of account and codes for tests. */
  readonly isMoney: boolean;
  /** The day or month of the currency's withdrawal. */
  readonly until: string | undefined;
  /** The alphabetic code of the currency's successor. */
  readonly successor: string | undefined;
}

const ALL: readonly Currency[] = linesOfTable(currencies).map(
  ([code = '', number = '', units = '', until, successor]) => ({
    code,
    number,
    units: /^\d$/.test(units) ? Number(units) : undefined,
    isMoney: units !== 'none',
    until: until || undefined,
    successor: successor || undefined,
  }),
);

const BY_CODE = new Map(ALL.map((currency) => [currency.code, currency]));

// Some historic currencies share a number with their successor. The currency in use counts, else the latest.
const BY_NUMBER = new Map(
  ALL.toSorted((a, b) => (a.until ?? '9').localeCompare(b.until ?? '9')).map((currency) => [currency.number, currency]),
);

/** Finds a currency by its alphabetic code, in any case, or its numeric code. */
export function currencyOf(code: string): Currency | undefined {
  return BY_NUMBER.get(code) ?? BY_CODE.get(code.trim().toUpperCase());
}

/** Every currency, by its alphabetic code. */
export function allCurrencies(): readonly Currency[] {
  return ALL;
}

/** Formats an amount in minor units for people: `500,000 JPY`. */
export function amountText(amount: string, exponent: number, currency: string): string {
  const digits = amount
    .replace(/^0+/, '')
    .slice(0, 48)
    .padStart(exponent + 1, '0');
  const whole = digits.slice(0, digits.length - exponent).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  const number = exponent === 0 ? whole : `${whole}.${digits.slice(-exponent)}`;
  return `${number} ${currencyOf(currency)?.code ?? `(currency ${currency})`}`;
}

const COUNTRIES = new Map(
  linesOfTable(countries).map(([code = '', number = '', within]) => [number, { code, within: within || undefined }]),
);

/** A country of ISO 3166-1. */
export interface Country {
  /** The code of two letters. */
  readonly code: string;
  /** The code of the country that contains this country as a subdivision, such as `US` for Puerto Rico. */
  readonly within: string | undefined;
}

/** Finds a country by its numeric code. */
export function countryOf(number: string): Country | undefined {
  return COUNTRIES.get(number);
}

/** Whether a country has this code of two letters. */
export function isCountryCode(code: string): boolean {
  return [...COUNTRIES.values()].some((country) => country.code === code);
}

// The first line of the table names the edition of the standard, the second line the columns.
function linesOfTable(table: string): string[][] {
  const lines = table.trim().split('\n').slice(2);
  return lines.map((line) => line.split(','));
}
