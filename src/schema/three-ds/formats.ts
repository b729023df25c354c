import * as z from 'zod/mini';
import { currencyOf } from './tables.ts';

// Fields of a request with their documentation: `description` fits behind "must be" and beside a template's value, and
// `examples` contains one valid value. Checks, templates and generated documents use both.

/** Declares a text that must not be empty. */
export function filled(description: string, example: string): z.ZodMiniString {
  return textThat(z.minLength(1), description, example);
}

/** Declares any text, including an empty one. */
export function text(description: string, example: string): z.ZodMiniString {
  return z.string().check(z.meta({ description, examples: [example] }));
}

/** Declares a whole number, as a text of digits. */
export function digits(description: string, example: string): z.ZodMiniString {
  return matching(/^\d+$/, description, example);
}

export function matching(pattern: RegExp, description: string, example: string): z.ZodMiniString {
  return textThat(z.regex(pattern), description, example);
}

export function textThat(check: z.core.$ZodCheck<string>, description: string, example: string): z.ZodMiniString {
  return z.string().check(check, z.meta({ description, examples: [example] }));
}

export function day(what: string, example: string): z.ZodMiniString {
  return written(/^\d{8}$/, `${what}, a real date written YYYYMMDD`, example);
}

/** Declares a date with an optional further digit. Documented as YYYYMMDDD, which may be a typing error. */
export function looseDay(what: string, example: string): z.ZodMiniString {
  return written(/^\d{8,9}$/, `${what}, a real date written YYYYMMDD (a ninth digit is let pass)`, example, 8);
}

export function minute(what: string, example: string): z.ZodMiniString {
  return written(/^\d{12}$/, `${what}, a real time in UTC written YYYYMMDDhhmm`, example);
}

export function second(what: string, example: string): z.ZodMiniString {
  return written(/^\d{14}$/, `${what}, a real time in UTC written YYYYMMDDhhmmss`, example);
}

export function country(what: string): z.ZodMiniString {
  return matching(/^\d{3}$/, `${what}, an ISO 3166-1 numeric code of 3 digits`, '840');
}

/** Declares a currency by its numeric or alphabetic code. The documentation says only "ISO 4217". */
export function currency(what: string): z.ZodMiniString {
  const words = `${what}, an ISO 4217 code: its number, such as 840, or its letters, such as USD`;
  return textThat(z.refine(isCurrencyCode), words, '840');
}

// The service may know currencies that the table does not have yet.
function isCurrencyCode(value: string): boolean {
  return /^\d{3}$/.test(value) || currencyOf(value)?.code === value;
}

/** Declares a currency by its numeric code. */
export function numericCode(what: string): z.ZodMiniString {
  return matching(/^\d{3}$/, `${what}, an ISO 4217 numeric code of 3 digits`, '840');
}

/** Declares true or false, never text. */
export function flag(description: string): z.ZodMiniBoolean {
  return z.boolean().check(z.meta({ description, examples: [true] }));
}

export function oneOf<const Value extends string>(
  values: readonly Value[],
  description: string,
): z.ZodMiniEnum<{ [Key in Value]: Key }> {
  return z.enum(values).check(z.meta({ description, examples: values.slice(0, 1) }));
}

function written(pattern: RegExp, description: string, example: string, length = Infinity): z.ZodMiniString {
  const isRight = (value: string): boolean => pattern.test(value) && isRealTime(value.slice(0, length));
  return textThat(z.refine(isRight), description, example);
}

// A text such as 20260230 has eight digits but is no date.
function isRealTime(value: string): boolean {
  const [, ...parts] = /^(....)(..)(..)(..)(..)(..)$/.exec(value.padEnd(14, '0')) ?? [];
  const [year, month, date, ...time] = parts;
  const iso = `${year}-${month}-${date}T${time.join(':')}.000Z`;
  const at = new Date(iso);
  return !Number.isNaN(at.getTime()) && at.toISOString() === iso;
}
