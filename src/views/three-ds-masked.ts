// What a table of 3DS data does not show: personal data, and values that authorize. Programs get all of it, as it came.

const HIDDEN = '(hidden)';

/** What of a device's data tells nothing of a person; new members may, so they are hidden. */
const HARMLESS_DEVICE_FIELDS = new Set([
  'browser_javascript_enabled',
  'browser_java_enabled',
  'browser_color_depth',
  'browser_screen_height',
  'browser_screen_width',
  'sdk_max_timeout',
  'sdk_reference_number',
  'sdk_render_options',
]);

/** Members that are hidden wherever they stand. Some services answer without the prefix of the IP address. */
const SENSITIVE = new Set(['authentication_value', 'cardholder_info', 'browser_ip_address', 'browser_ip']);

/** Members that the interface has given up. */
const DEPRECATED = new Set(['pan', 'pan_token_id']);

/** An answer about 3DS as a table shows it; the answer itself stays as it is. `hidden` counts what was taken out. */
export function maskedAnswer<T extends object>(answer: T): { shown: T; hidden: number } {
  let hidden = 0;
  const hide = (value: unknown): unknown => {
    if (value === undefined || value === null) return value;
    hidden += 1;
    return HIDDEN;
  };
  const walk = (name: string, value: unknown, holder: string): unknown => {
    if (SENSITIVE.has(name)) return hide(value);
    if (DEPRECATED.has(name) && typeof value === 'string') return `${value} (deprecated)`;
    if (holder === 'device_info' && !HARMLESS_DEVICE_FIELDS.has(name)) return hide(value);
    if (holder === 'message_extensions' && name === 'data') return hide(value);
    if (Array.isArray(value)) return value.map((item: unknown) => walk('', item, name));
    return typeof value === 'object' && value !== null ? members(value, name === '' ? holder : name) : value;
  };
  const members = (value: object, holder: string): object =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [name, walk(name, member, holder)]));
  return { shown: members(answer, '') as T, hidden };
}
