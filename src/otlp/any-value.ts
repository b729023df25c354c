import { JsonToken } from '../exact-json.ts';

/** A value as OTLP's JSON writes it. */
export type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly KeyValue[] } };

/** A named value. */
export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** Any value of JSON but null; each text goes through `clean`. */
function anyValue(value: unknown, clean: (text: string) => string): AnyValue | undefined {
  if (typeof value === 'string') return { stringValue: clean(value) };
  if (typeof value === 'boolean') return { boolValue: value };
  // Whole numbers are 64 bits wide there, so they travel as text.
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (value instanceof JsonToken) return exactNumber(value) ?? { stringValue: clean(value.text) };
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return { kvlistValue: { values: keyValues(value, clean) } };
  return { arrayValue: { values: value.map((one) => anyValue(one, clean) ?? { stringValue: '' }) } };
}

/** A number that JavaScript writes differently, where OTLP has one that is the same. */
function exactNumber({ text }: JsonToken): AnyValue | undefined {
  if (/^-?\d{1,19}$/.test(text)) {
    const whole = BigInt(text);
    return BigInt.asIntN(64, whole) === whole ? { intValue: String(whole) } : undefined;
  }
  // A double keeps fifteen digits of any number in its range.
  const isExact = /^-?[\d.]{1,16}(?:e[+-]?\d{1,2})?$/i.test(text);
  return isExact ? { doubleValue: Number(text) } : undefined;
}

/** The members of an object, each under its name with `prefix` before it; those without a value are left out. */
export function keyValues(members: object, clean: (text: string) => string, prefix = ''): KeyValue[] {
  return Object.entries(members).flatMap(([name, member]) => {
    const value = anyValue(member, clean);
    return value === undefined ? [] : [{ key: prefix + clean(name), value }];
  });
}
