import * as z from 'zod';

// Fields of a request with what is said of them: `description` reads well behind "must be" and beside a
// template's value, and `examples` holds one right value. Checks, templates and generated documents use both.

/** Text that must not be empty. */
export function filled(description: string, example: string): z.ZodString {
  return z.string().min(1).meta(facts(description, example));
}

/** Any text, also none at all. */
export function text(description: string, example: string): z.ZodString {
  return z.string().meta(facts(description, example));
}

/** A whole number, as text of digits alone. */
export function digits(description: string, example: string): z.ZodString {
  return matching(/^\d+$/, description, example);
}

/** Text of a form that a pattern tells. */
export function matching(pattern: RegExp, description: string, example: string): z.ZodString {
  return z.string().regex(pattern).meta(facts(description, example));
}

/** A real date, written YYYYMMDD. */
export function day(what: string, example: string): z.ZodString {
  return written(/^\d{8}$/, `${what}, a real date written YYYYMMDD`, example);
}

/** A real date that one more digit may follow: the interface writes YYYYMMDDD for it, which may be a slip. */
export function looseDay(what: string, example: string): z.ZodString {
  return written(
    /^\d{8,9}$/,
    `${what}, a real date written YYYYMMDD (a ninth digit is let pass)`,
    example,
    8,
  );
}

/** A real minute in UTC, written YYYYMMDDhhmm. */
export function minute(what: string, example: string): z.ZodString {
  return written(/^\d{12}$/, `${what}, a real time in UTC written YYYYMMDDhhmm`, example);
}

/** A real second in UTC, written YYYYMMDDhhmmss. */
export function second(what: string, example: string): z.ZodString {
  return written(/^\d{14}$/, `${what}, a real time in UTC written YYYYMMDDhhmmss`, example);
}

/** ISO 3166-1 numeric. */
export function country(what: string): z.ZodString {
  return matching(/^\d{3}$/, `${what}, an ISO 3166-1 numeric code of 3 digits`, '840');
}

/** ISO 4217 numeric. */
export function currency(what: string): z.ZodString {
  return matching(/^\d{3}$/, `${what}, an ISO 4217 numeric code of 3 digits`, '840');
}

/** true or false, never text. */
export function flag(description: string): z.ZodBoolean {
  return z.boolean().meta({ description, examples: [true] });
}

/** One of a closed few. */
export function oneOf<const Value extends string>(
  values: readonly Value[],
  description: string,
): z.ZodEnum<{ [Key in Value]: Key }> {
  return z.enum(values).meta({ description, examples: values.slice(0, 1) });
}

function written(pattern: RegExp, description: string, example: string, length = Infinity): z.ZodString {
  return z
    .string()
    .refine((value) => pattern.test(value) && isRealTime(value.slice(0, length)))
    .meta(facts(description, example));
}

// 20260230 has eight digits and is no date.
function isRealTime(value: string): boolean {
  const [, ...parts] = /^(....)(..)(..)(..)(..)(..)$/.exec(value.padEnd(14, '0')) ?? [];
  const [year, month, date, ...time] = parts;
  const iso = `${year}-${month}-${date}T${time.join(':')}.000Z`;
  const at = new Date(iso);
  return !Number.isNaN(at.getTime()) && at.toISOString() === iso;
}

function facts(description: string, example: string): { description: string; examples: string[] } {
  return { description, examples: [example] };
}

// ISO 4217: each alphabetic code with its numeric one behind it.
const CODES = `
  AED784 AFN971 ALL008 AMD051 AOA973 ARS032 AUD036 AWG533 AZN944 BAM977 BBD052 BDT050 BGN975 BHD048
  BIF108 BMD060 BND096 BOB068 BOV984 BRL986 BSD044 BTN064 BWP072 BYN933 BZD084 CAD124 CDF976 CHE947
  CHF756 CHW948 CLF990 CLP152 CNY156 COP170 COU970 CRC188 CUP192 CVE132 CZK203 DJF262 DKK208 DOP214
  DZD012 EGP818 ERN232 ETB230 EUR978 FJD242 FKP238 GBP826 GEL981 GHS936 GIP292 GMD270 GNF324 GTQ320
  GYD328 HKD344 HNL340 HTG332 HUF348 IDR360 ILS376 INR356 IQD368 IRR364 ISK352 JMD388 JOD400 JPY392
  KES404 KGS417 KHR116 KMF174 KPW408 KRW410 KWD414 KYD136 KZT398 LAK418 LBP422 LKR144 LRD430 LSL426
  LYD434 MAD504 MDL498 MGA969 MKD807 MMK104 MNT496 MOP446 MRU929 MUR480 MVR462 MWK454 MXN484 MXV979
  MYR458 MZN943 NAD516 NGN566 NIO558 NOK578 NPR524 NZD554 OMR512 PAB590 PEN604 PGK598 PHP608 PKR586
  PLN985 PYG600 QAR634 RON946 RSD941 RUB643 RWF646 SAR682 SBD090 SCR690 SDG938 SEK752 SGD702 SHP654
  SLE925 SOS706 SRD968 SSP728 STN930 SVC222 SYP760 SZL748 THB764 TJS972 TMT934 TND788 TOP776 TRY949
  TTD780 TWD901 TZS834 UAH980 UGX800 USD840 USN997 UYI940 UYU858 UYW927 UZS860 VED926 VES928 VND704
  VUV548 WST882 XAF950 XCD951 XCG532 XOF952 XPF953 YER886 ZAR710 ZMW967 ZWG924
`;

const NUMERIC = new Map(
  CODES.trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(0, 3), pair.slice(3)]),
);
const ALPHABETIC = new Map([...NUMERIC].map(([name, number]) => [number, name]));

/** The numeric code of a currency named by its alphabetic one: `840` for `USD`. */
export function numericCurrency(name: string): string | undefined {
  return NUMERIC.get(name.trim().toUpperCase());
}

/** The alphabetic code of a currency given by its numeric one: `USD` for `840`. */
export function currencyName(number: string): string | undefined {
  return ALPHABETIC.get(number);
}
