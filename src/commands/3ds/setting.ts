import type { ValueParser } from '../../cli/values.ts';
import { SvcError } from '../../errors.ts';
import type { Setting } from '../../three-ds/setting.ts';

/** One `path=value`; the value may be empty, and may hold further equals signs. */
export const setting: ValueParser<Setting> = (typed) => {
  const at = typed.indexOf('=');
  if (at < 1)
    throw new SvcError('usage', 'must be a path, =, and a value, such as purchase_info.amount=1000');
  return { path: typed.slice(0, at), text: typed.slice(at + 1) };
};
